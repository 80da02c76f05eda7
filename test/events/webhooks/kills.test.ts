// Kills the server that delivers at each step of a request. The next one goes on: in order, with the same ids, and nothing is lost.
// `npm run soak` kills 200 times.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Webhook_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type Served, serveTenantry } from "../../support/command.ts";
import { rounds } from "../../support/rounds.ts";
import { openSqlClient } from "../../support/sql.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { idsOf, onlyGroups, pathsOf } from "./place.ts";
import { type Answer, accept, answerWith, startReceiver, webhookNetworks } from "./receiver.ts";

/** What the receiver does with the first request of a server, which is killed by it. */
const steps: readonly ((kill: () => void) => Answer)[] = [
  // Nobody knows whether the receiver has got it.
  (kill) => () => kill(),
  // It is accepted, and that is not recorded.
  (kill) => (response, received) => {
    kill();
    accept(response, received);
  },
];

/** What a server is about to write when it is killed, by the condition of a trigger. */
const statements = [
  ["that there is something to deliver", "new.noted_time > old.noted_time"],
  ["that it delivers", "old.lease_id is null and new.lease_id is not null"],
  ["that it tries", "new.attempts > old.attempts"],
  ["what was accepted", "new.cursor_time > old.cursor_time"],
  ["that there is no more", "new.cursor_time = old.cursor_time and new.cursor_position > old.cursor_position"],
  ["that others may deliver", "old.lease_id is not null and new.lease_id is null"],
] as const;

/** A service of one server at a time, and a webhook of an org of it. */
async function openKilled() {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), "tenantry-hooks-"));
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
  const receiver = await startReceiver();
  let { served, api } = await serve();
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const webhook = { name: "audit", url: receiver.url, filter: onlyGroups };
  const { id, path } = await api.webhooks.createWebhook({ parentPath, webhook });
  const created: string[] = [];
  return {
    sql,
    receiver,
    created,
    async createGroup(): Promise<void> {
      const group = await api.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
      created.push(group.path);
    },
    kill: () => served.signal("SIGKILL"),
    async serveAgain(): Promise<void> {
      ({ served, api } = await serve());
    },
    /** Lets the lease of a server stand that was killed, however long the next one takes to start. */
    keepLease: () =>
      sql.query("update webhooks set lease_end = now() + interval '1 hour' where id = $1 and lease_id is not null", [
        id,
      ]),
    endLease: () =>
      sql.query("update webhooks set lease_end = 'epoch', next_attempt_time = 'epoch' where id = $1", [id]),
    webhook: () => api.webhooks.getWebhook({ path }),
    /** Whether no server delivers: one that does would deliver what is created next without another claim. */
    isIdle: async (): Promise<boolean> =>
      (await sql.query("select from webhooks where id = $1 and lease_id is null", [id])).length === 1,
    /** Stops what would write something of the webhook. Returns a function that lets nobody write it, and all that follows. */
    async stopBefore(condition: string): Promise<() => Promise<void>> {
      await sql.query("select pg_advisory_lock(1)");
      await sql.query(`
        create or replace function stop() returns trigger language plpgsql as
          'begin perform pg_advisory_xact_lock(1); return new; end'`);
      await sql.query(
        `create trigger stopped before update on webhooks for each row when (${condition}) execute function stop()`,
      );
      return async () => {
        await sql.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
        );
        await sql.query("drop trigger stopped on webhooks");
        await sql.query("select pg_advisory_unlock(1)");
      };
    },
    async isStopped(): Promise<boolean> {
      const waiting = "select pid from pg_locks where locktype = 'advisory' and not granted and objid = 1";
      return (await sql.query(waiting)).length > 0;
    },
  };
}

test("a server that is killed while it delivers loses nothing, and its lease keeps others from the webhook until it ends", async () => {
  const { receiver, created, ...place } = await openKilled();
  const kills = Array.from({ length: rounds(1, 40) }, () => steps).flat();
  for (const step of kills) {
    const before = receiver.received.length;
    let killed: Promise<unknown> | undefined;
    receiver.answer = step(() => (killed ??= place.kill()));
    await place.createGroup();
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    await killed;
    await place.keepLease();
    receiver.answer = accept;
    await place.serveAgain();
    await place.createGroup();
    // One that looks for what there is to deliver finds that it is taken.
    await place.createGroup();
    expect(receiver.received).toHaveLength(before + 1);
    await place.endLease();
    await place.createGroup();
    await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  }
  const paths = pathsOf(receiver.received);
  expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(created);
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
  expect(paths).toHaveLength(created.length + kills.length);
});

test("a server that is killed before it writes anything of a webhook loses nothing, and sends nothing out of order", async () => {
  const { receiver, created, ...place } = await openKilled();
  for (const [, condition] of Array.from({ length: rounds(1, 20) }, () => statements).flat()) {
    await expect.poll(place.isIdle).toBe(true);
    const go = await place.stopBefore(condition);
    await place.createGroup();
    await expect.poll(place.isStopped).toBe(true);
    await place.kill();
    await go();
    await place.endLease();
    await place.serveAgain();
    await place.createGroup();
    await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  }
  const paths = pathsOf(receiver.received);
  expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(created);
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
});

test("a server that is killed before it disables a webhook leaves that to another one, and nothing is sent afterwards", async () => {
  const { receiver, ...place } = await openKilled();
  receiver.answer = answerWith(410);
  const go = await place.stopBefore("new.state = 'DISABLED'");
  await place.createGroup();
  await expect.poll(place.isStopped).toBe(true);
  await place.kill();
  await go();
  await place.endLease();
  await place.serveAgain();
  await expect.poll(async () => (await place.webhook()).state).toBe(Webhook_State.DISABLED);
  expect(new Set(idsOf(receiver.received)).size).toBe(1);
  const { length } = receiver.received;
  await place.endLease();
  await place.createGroup();
  await place.createGroup();
  expect(receiver.received).toHaveLength(length);
});
