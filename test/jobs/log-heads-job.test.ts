import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { LogEnd } from "../../src/changes/signed-head.ts";
import { createCommits } from "../../src/database/commits.ts";
import type { Entry } from "../../src/database/commits.ts";
import { createLogHeadsJob } from "../../src/jobs/log-heads-job.ts";
import { unfollowed } from "../support/unfollowed.ts";

function start(options: { readonly maxOrgs?: number } = {}) {
  const lines: Record<string, unknown>[] = [];
  const signed: LogEnd[] = [];
  const commits = createCommits();
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const signHead = async (end: LogEnd): Promise<string> => {
    signed.push(end);
    return `head of ${end.logId} ${end.revision}`;
  };
  const job = createLogHeadsJob({ database: { commits }, signHead, logger, intervalMs: 3_600_000, ...options });
  onTestFinished(() => job.close());
  const commit = (orgId: string, ...revisions: string[]): void => {
    const entries = revisions.map(
      (revision) =>
        ({
          revision,
          time: "2029-12-31T23:59:59.000001Z",
          chain_start: "1",
          hash: String.raw`\x${"b".repeat(64)}`,
        }) as Entry,
    );
    commits.tell([{ ...unfollowed, orgId, before: undefined, entries, lockedAt: 0 }]);
  };
  return { job, lines, signed, commit };
}

test("the last revision that a server has written in each org is noted once, signed", async () => {
  const { job, lines, signed, commit } = start();
  commit("acme", "1", "2");
  commit("other", "1");
  commit("acme", "3");
  await job.runOnce();
  expect(lines.map(({ org, revision, head }) => [org, revision, head])).toEqual([
    ["acme", "3", "head of acme 3"],
    ["other", "1", "head of other 1"],
  ]);
  expect(signed[0]).toMatchObject({ hash: "b".repeat(64), chainStart: "1", timeline: null });
  await job.runOnce();
  expect(lines).toHaveLength(2);
  commit("acme", "4");
  await job.close();
  expect(lines.slice(2).map(({ head }) => head)).toEqual(["head of acme 4"]);
});

test("with many orgs they are noted before the time", async () => {
  const { lines, commit } = start({ maxOrgs: 2 });
  commit("acme", "1");
  commit("other", "1");
  await expect.poll(() => lines.length).toBe(2);
});
