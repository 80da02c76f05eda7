// A service of one server at a time, which is killed while it delivers, and a webhook of an org of it, or of its customer.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type Served, serveTenantry } from "../../support/command.ts";
import { openSqlClient } from "../../support/sql.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { onlyGroups } from "./place.ts";
import { type Answer, accept, startReceiver, webhookNetworks } from "./receiver.ts";

/** What the receiver does with the first request of a server, which is killed by it. */
export const steps: readonly ((kill: () => void) => Answer)[] = [
  // Nobody knows whether the receiver has got it.
  (kill) => () => kill(),
  // It is accepted, and that is not recorded.
  (kill) => (response, received) => {
    kill();
    accept(response, received);
  },
];

export type Killed = Awaited<ReturnType<typeof openKilled>>;

/**
 * Opens the service for the tests of a file, which use it one after the other.
 *
 * @param of what the webhook is of. One of a customer delivers the logs of two orgs, in which groups are created in turns.
 */
export function useKilled(of: "org" | "customer"): () => Killed {
  const ends: (() => unknown)[] = [];
  let place: Killed;
  beforeAll(async () => {
    place = await openKilled(of, (end) => void ends.push(end));
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return () => place;
}

async function openKilled(of: "org" | "customer", atEnd: (end: () => unknown) => void) {
  const database = await createTestDatabase();
  atEnd(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), "tenantry-hooks-"));
  atEnd(() => rm(directory, { recursive: true, force: true }));
  const sql = await openSqlClient(database.url);
  atEnd(() => sql.close());
  const env = {
    DATABASE_URL: database.url,
    TENANTRY_DATA: directory,
    TENANTRY_WEBHOOK_NETWORKS: webhookNetworks.join(","),
  };
  const serve = async (): Promise<{ readonly served: Served; readonly api: Api }> => {
    const served = await serveTenantry({ cwd: directory, env });
    atEnd(() => served.signal("SIGKILL"));
    const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
    return { served, api: createApi("Connect", served.url, key) };
  };
  const receiver = await startReceiver(accept, atEnd);
  let { served, api } = await serve();
  const { path: orgPath, customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const orgs = [orgPath];
  if (of === "customer")
    orgs.push((await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } })).path);
  const webhook = { name: "audit", url: receiver.url, filter: onlyGroups };
  const parentPath = of === "org" ? orgPath : customerPath;
  const { id, path } = await api.webhooks.createWebhook({ parentPath, webhook });
  const created: string[] = [];
  return {
    sql,
    receiver,
    created,
    orgs,
    async createGroup(): Promise<void> {
      const org = orgs[created.length % orgs.length] ?? "";
      const group = await api.groups.createGroup({ parentPath: org, group: { name: uniqueName("group") } });
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
    async stopBefore(condition: string, table = "webhooks"): Promise<() => Promise<void>> {
      await sql.query("select pg_advisory_lock(1)");
      await sql.query(`
        create or replace function stop() returns trigger language plpgsql as
          'begin perform pg_advisory_xact_lock(1); return new; end'`);
      await sql.query(
        `create trigger stopped before update on ${table} for each row when (${condition}) execute function stop()`,
      );
      return async () => {
        await sql.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
        );
        await sql.query(`drop trigger stopped on ${table}`);
        await sql.query("select pg_advisory_unlock(1)");
      };
    },
    async isStopped(): Promise<boolean> {
      const waiting = "select pid from pg_locks where locktype = 'advisory' and not granted and objid = 1";
      return (await sql.query(waiting)).length > 0;
    },
  };
}
