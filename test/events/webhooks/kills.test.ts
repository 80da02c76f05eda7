// Kills the server that delivers at each step of a request. The next one goes on: in order, with the same ids, and nothing is lost.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type Served, serveTenantry } from "../../support/command.ts";
import { openSqlClient } from "../../support/sql.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { idsOf, onlyGroups, pathsOf } from "./place.ts";
import { type Answer, accept, startReceiver, webhookNetworks } from "./receiver.ts";

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

test("a server that is killed while it delivers loses nothing, and its lease keeps others from the webhook until it ends", async () => {
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
  const { id } = await api.webhooks.createWebhook({ parentPath, webhook });
  const created: string[] = [];
  const createGroup = async (): Promise<void> => {
    const { path } = await api.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
    created.push(path);
  };
  for (const step of steps) {
    const before = receiver.received.length;
    let killed: Promise<unknown> | undefined;
    const { signal } = served;
    receiver.answer = step(() => (killed ??= signal("SIGKILL")));
    await createGroup();
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    await killed;
    receiver.answer = accept;
    ({ served, api } = await serve());
    await createGroup();
    // One that looks for what there is to deliver finds that it is taken.
    await createGroup();
    expect(receiver.received).toHaveLength(before + 1);
    await sql.query("update webhooks set lease_end = 'epoch' where id = $1", [id]);
    await createGroup();
    await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  }
  const paths = pathsOf(receiver.received);
  expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(created);
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
  expect(paths).toHaveLength(created.length + steps.length);
});
