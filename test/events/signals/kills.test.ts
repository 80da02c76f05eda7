// Kills the server that pushes at each step of a request. The next one goes on: in order, with the same ids, and nothing is lost.
// `npm run soak` kills 60 times.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type Served, serveTenantry } from "../../support/command.ts";
import { rounds } from "../../support/rounds.ts";
import { openSqlClient } from "../../support/sql.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { type Answer, startReceiver, webhookNetworks } from "../webhooks/receiver.ts";
import { accepted, audience } from "./place.ts";

/** What the receiver does with the first request of a server, which is killed by it. */
const steps: readonly ((kill: () => void) => Answer)[] = [
  // Nobody knows whether the receiver has got it.
  (kill) => () => kill(),
  // It is accepted, and that is not recorded.
  (kill) => (response, received) => {
    kill();
    accepted(response, received);
  },
];

test("a server that is killed while it pushes loses nothing, and its lease keeps others from the stream until it ends", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), "tenantry-signals-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const sql = await openSqlClient(database.url);
  onTestFinished(() => sql.close());
  const env = {
    DATABASE_URL: database.url,
    TENANTRY_DATA: directory,
    TENANTRY_WEBHOOK_NETWORKS: webhookNetworks.join(","),
  };
  const serve = async (): Promise<{ readonly served: Served; readonly api: Api }> => {
    const served = await serveTenantry({ cwd: directory, env });
    onTestFinished(() => served.signal("SIGKILL").then(() => {}));
    const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
    return { served, api: createApi("Connect", served.url, key) };
  };

  const receiver = await startReceiver(accepted);
  let { served, api } = await serve();
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { path } = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const eventStream = { name: "gateway", audience, pushUrl: receiver.url };
  const { id } = await api.eventStreams.createEventStream({ parentPath, eventStream });
  const ended: string[] = [];
  const revokeTokens = async (): Promise<void> => {
    await api.members.revokeTokens({ path });
    const [org] = await sql.query(
      "select revision from orgs where id = (select org_id from event_streams where id = $1)",
      [id],
    );
    ended.push(String(org?.["revision"]));
  };
  const revisions = (): string[] => receiver.received.map(({ body }) => String(decodeJwt(body)["txn"]));
  const kills = Array.from({ length: rounds(1, 30) }, () => steps).flat();
  for (const step of kills) {
    const before = receiver.received.length;
    let killed: Promise<unknown> | undefined;
    const { signal } = served;
    receiver.answer = step(() => (killed ??= signal("SIGKILL")));
    await revokeTokens();
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    await killed;
    // The lease stands however long the next server takes to start.
    await sql.query("update event_streams set lease_end = now() + interval '1 hour' where id = $1", [id]);
    receiver.answer = accepted;
    ({ served, api } = await serve());
    await revokeTokens();
    // One that looks for what there is to deliver finds that it is taken.
    await revokeTokens();
    expect(receiver.received).toHaveLength(before + 1);
    await sql.query("update event_streams set lease_end = 'epoch' where id = $1", [id]);
    await revokeTokens();
    await expect.poll(() => new Set(revisions()).size).toBe(ended.length);
  }
  const all = revisions();
  expect(all.filter((revision, index) => all.indexOf(revision) === index)).toEqual(ended);
  expect(new Set(receiver.received.map(({ body }) => decodeJwt(body).jti)).size).toBe(ended.length);
  expect(all).toHaveLength(ended.length + kills.length);
});
