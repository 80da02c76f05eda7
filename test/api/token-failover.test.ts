// What is revoked after a failover to an older state is refused by every server, whatever they remember of the lost history.
import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { uniqueName } from "../support/api.ts";
import { type FailingDatabase, startFailingDatabase } from "../support/failing-database.ts";
import { rounds } from "../support/rounds.ts";
import {
  type TokenMember,
  type TokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  startTokenServers,
  statusWith,
} from "../support/token-servers.ts";

let database: FailingDatabase;
let place: TokenServers;
let org: string;

beforeAll(async () => {
  database = await startFailingDatabase();
  place = await startTokenServers({ databaseUrl: database.url });
  org = (await place.api.orgs.createOrg({ org: { name: "acme" } })).path;
});
afterAll(async () => {
  await place.close();
  await database.stop();
});

/** The ways to take a token back, on the first server. */
const ways: Readonly<Record<string, (member: TokenMember, token: string) => Promise<unknown>>> = {
  token: (_member, token) => sendForm(place.servers[0], "revoke", { token }),
  session({ path }, token) {
    const sessions = createClient(SessionsService, place.api.transport);
    return sessions.deleteSession({ path: `${path}/sessions/@${String(decodeJwt(token)["sid"])}` });
  },
  tokens: ({ path }) => place.api.members.revokeTokens({ path }),
  key: ({ keyPath: path }) => place.api.apiKeys.deleteApiKey({ path }),
  rotation: ({ keyPath: path }) => place.api.apiKeys.rotateApiKey({ path, name: uniqueName("next"), overlap: {} }),
  suspension: ({ path }) => place.api.members.suspendMember({ path }),
  deletion: ({ path }) => place.api.members.deleteMember({ path }),
};

test("each way to revoke", async () => {
  for (let round = 0; round < rounds(1, 100); round++) {
    const taken = [];
    for (const [way, take] of Object.entries(ways)) {
      const member = await createTokenMember(place.api, org);
      const token = await exchangeKey(
        place.servers[0],
        member.key,
        way === "session" ? { scope: "offline_access" } : {},
      );
      taken.push({ way, token, take: () => take(member, token) });
    }
    const expectStatus = async (way: string, token: string, status: number): Promise<void> => {
      for (const server of place.servers)
        expect({ way, status: await statusWith(server, token, org) }).toEqual({ way, status });
    };
    await database.copy();
    // Both servers learn revocations that are lost. The next writes get their numbers.
    for (const { way, token, take } of taken) {
      await take();
      await expectStatus(way, token, 401);
    }
    await database.failOver();
    for (const { way, token, take } of taken) {
      await expectStatus(way, token, 200);
      await take();
      await expectStatus(way, token, 401);
    }
  }
});
