// Copies of an org that is written at random, made of streams whose servers and database are killed: each revision comes once and in order,
// over every protocol, also when the state was only half sent, and the copies are right. `npm run soak` kills 200 times.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import type { WatchChangesResponse } from "../../../gen/iam/v1alpha/change_pb.ts";
import { systemErrorCode } from "../../../src/cli/calls/system-error-code.ts";
import { required } from "../../../src/errors/required.ts";
import { type Api, createApi } from "../../support/api.ts";
import { type Served, serveTenantry } from "../../support/command.ts";
import { type CopyOfOrg, applyTo, comparable } from "../../support/copy-of-org.ts";
import { startKillableDatabase } from "../../support/killable-database.ts";
import { writeAtRandom } from "../../support/random-history.ts";
import { rounds } from "../../support/rounds.ts";
import { type Protocol, protocols } from "../../support/transports.ts";
import { type Watch, isSynced, watchLog } from "../../support/watch-log.ts";
import { writeSecretKeys } from "../../support/write-secret-keys.ts";

const parentPath = "orgs/acme";
const kills = rounds(2, 200);
/** A database is not restarted more than five times a minute. */
const killsOfDatabase = 2;
/** So many kills later, another copy begins. */
const killsOfCopy = rounds(2, 20);

const passing = new Set([Code.Unavailable, Code.Aborted, Code.DeadlineExceeded, Code.Canceled, Code.ResourceExhausted]);
const isPassing = (error: unknown): boolean =>
  systemErrorCode(error) !== undefined || passing.has(ConnectError.from(error).code);

/** Repeats a call until the service answers. */
async function persist<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(100);
    }
  }
}

/** A copy that goes on in one stream after the other. */
function createFollower() {
  const copy: CopyOfOrg = new Map();
  let begin = "";
  let position = "";
  let changes: { readonly revision: string; readonly position: number }[] = [];
  return {
    copy,
    /** The revision at which its first stream has begun. */
    begin: () => begin,
    changes: () => changes.map((each) => `${each.revision} ${each.position}`),
    open: (api: Api): Watch => watchLog(api, { parentPath, initialState: true, afterRevision: position }),
    keep({ received }: Pick<Watch, "received">): void {
      for (const message of received) {
        const { event } = message;
        applyTo(copy, message);
        if (event.case === "change") changes.push(event.value);
        if (event.case === "checkpoint" && begin === "") begin = event.value.revision;
        position = message.resumeRevision;
      }
      // A revision that has not come whole comes again.
      const [revision = ""] = position.split(".");
      changes = changes.filter((change) => change.revision <= revision);
    },
  };
}

async function listAll(api: Api): Promise<{ readonly revision: string; readonly key: string }[]> {
  const all: { readonly revision: string; readonly key: string }[] = [];
  let pageToken = "";
  do {
    const page = await api.changes.listChanges({ parentPath, orderBy: "time", pageSize: 1000, pageToken });
    all.push(...page.changes.map(({ revision, position }) => ({ revision, key: `${revision} ${position}` })));
    ({ nextPageToken: pageToken } = page);
  } while (pageToken !== "");
  return all;
}

async function start(directory: string) {
  const database = await startKillableDatabase(join(directory, "postgres"));
  const keys = await writeSecretKeys(directory);
  const env = { DATABASE_URL: database.url, TENANTRY_DATA: directory, TENANTRY_SECRET_KEYS_FILE: keys };
  const serve = (): Promise<Served> => serveTenantry({ cwd: directory, env });
  const survivor = await serve();
  onTestFinished(() => survivor.signal("SIGKILL").then(() => {}));
  const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  return { database, serve, survivor, key };
}

test("streams that are resumed after kills of servers and database make right copies, with each revision once and in order", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-watch-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { database, serve, survivor, key } = await start(directory);
  const api = createApi("gRPC", survivor.url, key);
  await api.orgs.createOrg({ org: { name: "acme" } });
  for (let batch = 0; batch < 2; batch++) {
    const requests = Array.from({ length: 100 }, (_, index) => ({ member: { name: `fill${batch}n${index}` } }));
    await api.members.batchCreateMembers({ parentPath, requests });
  }
  const stopWriting = writeAtRandom(api, parentPath, isPassing);
  const followers = [createFollower()];
  let killedAt = -Infinity;
  for (let round = 0; round < kills; round++) {
    const victim = await persist(serve);
    if (round % killsOfCopy === 1) followers.push(createFollower());
    const followed = [required(followers[0]), required(followers.at(-1))].slice(0, Math.min(2, followers.length));
    const watches = followed.map((follower, index) => {
      const protocol = protocols[(round + index) % protocols.length] as Protocol;
      return { follower, watch: follower.open(createApi(protocol, victim.url, key)) };
    });
    for (const { watch } of watches) await watch.until(() => true).catch(() => undefined);
    await sleep((round * 137) % 500);
    if (round % killsOfDatabase === killsOfDatabase - 1 && performance.now() > killedAt + 20_000) {
      killedAt = performance.now();
      await database.kill();
      await sleep(50);
    }
    await victim.signal("SIGKILL");
    for (const { follower, watch } of watches) {
      await watch.ended.catch(() => undefined);
      follower.keep(watch);
    }
  }
  await stopWriting();

  await persist(() => api.orgs.getOrg({ path: parentPath }));
  // All are compared at one revision: what was written at random may be purged at any time.
  const now = createFollower();
  const ends = [...followers, now].map((follower) => ({ follower, watch: follower.open(api) }));
  await ends.at(-1)?.watch.until(isSynced);
  const last = await persist(() => api.groups.createGroup({ parentPath, group: { name: `last${kills}` } }));
  /** Who reads the log is in it, so that a state may be of a later revision. In the middle of a revision or a state, there is more than an id. */
  const hasLast = ({ resumeRevision }: WatchChangesResponse): boolean =>
    !resumeRevision.includes(".") && resumeRevision >= last.etag;
  for (const { follower, watch } of ends) {
    const reached = await watch.until(hasLast);
    watch.close();
    follower.keep({ received: watch.received.slice(0, watch.received.indexOf(reached) + 1) });
  }
  const logged = await listAll(api);
  for (const follower of followers) {
    const expected = logged.filter(({ revision }) => revision > follower.begin() && revision <= last.etag);
    expect(follower.changes().filter((change) => change.slice(0, 36) <= last.etag)).toEqual(
      expected.map((change) => change.key),
    );
    expect(comparable(follower.copy)).toEqual(comparable(now.copy));
  }
});
