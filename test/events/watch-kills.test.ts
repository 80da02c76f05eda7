// A watcher whose servers are killed resumes at another one, and gets each revision once and in order. `npm run soak` kills 200 times.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Api, createApi } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { rounds } from "../support/rounds.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type Protocol, protocols } from "../support/transports.ts";
import { type Watch, isAbout, watchLog } from "../support/watch-log.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";

test("a stream that is resumed after kills of its servers has each change once and in order", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-watch-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const keys = await writeSecretKeys(directory);
  const start = (): Promise<Served> =>
    serveTenantry({
      cwd: directory,
      env: { DATABASE_URL: database.url, TENANTRY_DATA: directory, TENANTRY_SECRET_KEYS_FILE: keys },
    });
  const survivor = await start();
  onTestFinished(() => survivor.signal("SIGKILL").then(() => {}));
  const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  const api = createApi("gRPC", survivor.url, key);
  const { path: parentPath, etag: created } = await api.orgs.createOrg({ org: { name: "acme" } });

  let count = 0;
  const done = new AbortController();
  const write = async (): Promise<void> => {
    while (!done.signal.aborted) await api.groups.createGroup({ parentPath, group: { name: `g${count++}` } });
  };
  const writing = write();
  writing.catch(() => undefined);
  const received: string[] = [];
  let revision = created;
  const open = (watcher: Api): Watch => watchLog(watcher, { parentPath, afterRevision: revision });
  const keep = (watch: Watch): void => {
    for (const { event, resumeRevision } of watch.received) {
      if (event.case === "change") received.push(`${event.value.revision} ${event.value.position}`);
      revision = resumeRevision;
    }
  };
  for (let round = 0; round < rounds(2, 200); round++) {
    const victim = await start();
    const protocol = protocols[(round + 2) % protocols.length] as Protocol;
    const watch = open(createApi(protocol, victim.url, key));
    await watch.until(() => true);
    await sleep((round * 137) % 500);
    await victim.signal("SIGKILL");
    await watch.ended.catch(() => undefined);
    keep(watch);
  }
  done.abort();
  await writing;
  await api.groups.createGroup({ parentPath, group: { name: "last" } });
  const watch = open(api);
  await watch.until(isAbout("last"));
  watch.close();
  keep(watch);

  const expected: string[] = [];
  let pageToken = "";
  do {
    const page = await api.changes.listChanges({ parentPath, orderBy: "time", pageSize: 1000, pageToken });
    for (const each of page.changes) if (each.revision > created) expected.push(`${each.revision} ${each.position}`);
    ({ nextPageToken: pageToken } = page);
  } while (pageToken !== "");
  expect(received).toEqual(expected.slice(0, received.length));
  expect(expected.length - received.length).toBeLessThanOrEqual(1);
});
