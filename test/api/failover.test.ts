// Tests two servers whose database fails over to a physical copy of an earlier state: writes since then are lost, and the
// next writes have the same numbers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { numberOf } from "../../src/changes/revision.ts";
import {
  type AccessClient,
  type AccessPlace,
  createAccessClient,
  createAccessPlace,
  startInstance as permission,
} from "../support/access-place.ts";
import { type FailingDatabase, startFailingDatabase } from "../support/failing-database.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let database: FailingDatabase;
let server: TestServer;
let other: TestServer;
/** The clients of both servers. */
let clients: readonly AccessClient[];
/** A new one for each test. */
let place: AccessPlace;
beforeAll(async () => {
  database = await startFailingDatabase();
  server = await startTestServer({ databaseUrl: database.url });
  other = await startTestServer({ databaseUrl: database.url });
  clients = [server, other].map(({ url }) => createAccessClient("Connect", url, server.operatorKey));
});
afterAll(async () => {
  await other.close();
  await server.close();
  await database.stop();
});
beforeEach(async () => {
  place = await createAccessPlace("Connect", server.url, server.operatorKey);
});

const check = (client: AccessClient, subjectPath: string, more: object = {}) =>
  client.checkAccess({ subjectPath, permission, resourcePath: place.web, ...more });

const answersAbout = (subjectPath: string): Promise<boolean[]> =>
  Promise.all(clients.map(async (client) => (await check(client, subjectPath)).allowed));

describe("after the database has failed over to an older state", () => {
  test("access that was granted in the lost history does not count on any server, even after later writes", async () => {
    const { alice, bob, web, grant } = place;
    await database.copy();
    await grant(web, alice, "/roles/admin");
    expect(await answersAbout(alice)).toEqual([true, true]);
    await database.failOver();
    expect(await answersAbout(alice)).toEqual([false, false]);
    // These get the numbers of the lost writes.
    for (let write = 0; write < 3; write++) {
      await grant(web, bob, "/roles/viewer");
      expect(await answersAbout(alice)).toEqual([false, false]);
    }
  });

  test("access that is revoked then does not count on any server", async () => {
    const { api, alice, bob, web, grant } = place;
    const path = await grant(web, alice, "/roles/admin");
    await database.copy();
    // Both servers know the lost history, and are ahead of the following writes.
    for (let write = 0; write < 3; write++) await grant(web, bob, "/roles/viewer");
    expect(await answersAbout(alice)).toEqual([true, true]);
    await database.failOver();
    await api.roleBindings.deleteRoleBinding({ path });
    expect(await answersAbout(alice)).toEqual([false, false]);
    for (let write = 0; write < 3; write++) {
      await grant(web, bob, "/roles/viewer");
      expect(await answersAbout(alice)).toEqual([false, false]);
    }
  });

  test("a revision and an etag of the lost history are refused, even if their numbers are used again", async () => {
    const { api, alice } = place;
    const minute = { maxStaleness: { seconds: 60n } };
    await database.copy();
    const lost = await api.members.updateMember({ path: alice, member: { description: "lost" } });
    const { revision } = await check(place.access, alice);
    expect(revision).toBe(lost.etag);
    await database.failOver();
    const kept = await api.members.updateMember({ path: alice, member: { description: "kept" } });
    expect(numberOf(kept.etag)).toBe(numberOf(lost.etag));
    for (const client of clients) {
      expect(await failureOf(check(client, alice, { revision }))).toMatchObject({
        code: "InvalidArgument",
        fields: ["revision"],
        message: expect.stringContaining("was lost when the database was restored or failed over") as string,
      });
      expect((await check(client, alice, { revision: kept.etag, ...minute })).revision).toBe(kept.etag);
    }
    const update = api.members.updateMember({ path: alice, member: { description: "mine", etag: lost.etag } });
    expect(await failureOf(update)).toMatchObject({
      reason: "ETAG_STALE",
      message: expect.stringContaining("was lost when the database was restored or failed over") as string,
    });
  });
});
