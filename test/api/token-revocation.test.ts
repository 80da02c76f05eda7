// What is taken back on one server is refused by the other on the very next request. `npm run soak` makes 10,000 rounds.
import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";

let place: SharedTokenServers;
let org: string;

beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
});

interface Way {
  /** Takes the token back, on the first server. */
  readonly take: (member: TokenMember, token: string) => Promise<unknown>;
  /** What the second server then answers. */
  readonly refusal: 401 | 403;
}

const ways: Readonly<Record<string, Way>> = {
  "the token": { take: (_member, token) => sendForm(place.servers[0], "revoke", { token }), refusal: 401 },
  "the session": {
    take({ path }, token) {
      const sessions = createClient(SessionsService, place.api.transport);
      return sessions.deleteSession({ path: `${path}/sessions/@${String(decodeJwt(token)["sid"])}` });
    },
    refusal: 401,
  },
  "the tokens of the member": { take: ({ path }) => place.api.members.revokeTokens({ path }), refusal: 401 },
  "the API key": { take: ({ keyPath }) => place.api.apiKeys.deleteApiKey({ path: keyPath }), refusal: 401 },
  "the API key, by rotation": {
    take: ({ keyPath: path }) => place.api.apiKeys.rotateApiKey({ path, name: uniqueName("next"), overlap: {} }),
    refusal: 401,
  },
  "the member, by suspension": { take: ({ path }) => place.api.members.suspendMember({ path }), refusal: 401 },
  "the member, by deletion": { take: ({ path }) => place.api.members.deleteMember({ path }), refusal: 401 },
  "the role": {
    async take({ path }) {
      const filter = `subject_path = "${path}"`;
      const { roleBindings } = await place.api.roleBindings.listRoleBindings({ parentPath: org, filter });
      for (const binding of roleBindings) await place.api.roleBindings.deleteRoleBinding({ path: binding.path });
    },
    refusal: 403,
  },
};

test.each(Object.keys(ways))("%s", async (name) => {
  const way = ways[name] as Way;
  for (let round = 0; round < rounds(2, 1_430); round++) {
    const member = await createTokenMember(place.api, org);
    const scope = name === "the session" ? { scope: "offline_access" } : {};
    const token = await exchangeKey(place.servers[0], member.key, scope);
    const [, other] = place.servers;
    expect(await statusWith(other, token, org)).toBe(200);
    // The server that is asked is busy with other calls.
    const others = Array.from({ length: 4 }, () => statusWith(other, other.operatorKey || token, `${org}/members`));
    await way.take(member, token);
    expect({ round, status: await statusWith(other, token, org) }).toEqual({ round, status: way.refusal });
    await Promise.all(others);
  }
});
