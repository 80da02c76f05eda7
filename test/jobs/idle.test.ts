// Tests what a server sends to its database when nothing happens. Its intervals are passed by the test, as fast as the server answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished, expect, test, vi } from "vitest";
import { startStatementLog } from "../support/statement-log.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

/** The statements that are expected, by what they have. */
const kinds = {
  "what ends next": "'memberships' as kind",
  "sweeps that are due": "from sweeps order by next_time",
  "exhausted operations": "from operations where end_time is null and attempts",
  "signing keys": 'from "signing_keys"',
};

test("a server on which nothing happens asks each minute what is due: one statement for each of four jobs", async () => {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const log = await startStatementLog(url);
  onTestFinished(log.close);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startTestServer({ databaseUrl: log.url, purgeIntervalMs: 60_000 });
  onTestFinished(() => server.close());

  const pass = async (minutes: number): Promise<void> => {
    for (let halfSecond = 0; halfSecond < minutes * 120; halfSecond++) {
      vi.advanceTimersByTime(500);
      // What follows an answer is sent some turns later.
      for (let turn = 0; turn < 10; turn++) {
        await nextTurn();
        if (!log.isAnswered()) turn = 0;
      }
    }
  };
  // After the start, jobs look ever more rarely: that for tables that have grown after 4 and 9 minutes, and each hour in the end.
  await pass(5);
  const before = log.statements.length;
  await pass(3);
  const sent = log.statements.slice(before).map((text) => {
    return Object.entries(kinds).find(([, has]) => text.includes(has))?.[0] ?? text;
  });
  const counts = Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, sent.filter((each) => each === kind).length]),
  );
  expect(sent.filter((each) => !Object.hasOwn(kinds, each))).toEqual([]);
  expect(counts).toEqual(Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 3])));
});
