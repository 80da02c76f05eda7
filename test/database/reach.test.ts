// Tests when a database counts as away: on a real one, through a proxy that can be closed.
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { createElapsedClock } from "../../src/database/age-clock.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type DatabaseReach, createDatabaseReach } from "../../src/database/reach.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { createTestDatabase } from "../support/test-database.ts";

interface Watched {
  readonly database: Database;
  readonly reach: DatabaseReach;
  readonly said: string[];
  readonly cut: () => void;
  readonly mend: () => void;
  /** Moves the clock of the machine. */
  readonly move: (ms: number) => void;
}

async function watchDatabase(): Promise<Watched> {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const proxy = await startSilentProxy(url);
  onTestFinished(() => proxy.close());
  const database = openDatabase({
    connection: { connectionString: proxy.url },
    maxReadConnections: 2,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  const said: string[] = [];
  let movedMs = 0;
  const reach = createDatabaseReach(database, {
    onAway: () => void said.push("away"),
    onReturn: (_awayMs, calls) => void said.push(`back after ${calls} calls`),
    clock: createElapsedClock({ wall: () => Date.now() + movedMs, steady: () => performance.now() }),
  });
  onTestFinished(reach.close);
  return {
    database: reach.database,
    reach,
    said,
    cut: proxy.cut,
    mend: proxy.mend,
    move: (ms) => void (movedMs += ms),
  };
}

/** Returns the error of a lookup. */
const failureOf = (lookup: Promise<unknown>): Promise<unknown> =>
  lookup.then(
    () => expect.fail("it was answered"),
    (error: unknown) => error,
  );

const lookUp = ({ database }: Watched): Promise<unknown> => database.readPrepared("one", "select 1 as one", []);

test("a database that nothing reaches is away, until it answers", async () => {
  const watched = await watchDatabase();
  const { reach, said, cut, mend } = watched;
  await lookUp(watched);
  cut();
  expect(await reach.confirmAway(await failureOf(lookUp(watched)))).toBe(true);
  expect(reach.isAway()).toBe(true);
  reach.noteAnswerAway();
  expect(reach.awayMs()).toBeGreaterThan(0);
  mend();
  await expect.poll(() => reach.isAway()).toBe(false);
  expect({ awayMs: reach.awayMs(), said }).toEqual({ awayMs: 0, said: ["away", "back after 1 calls"] });
  await lookUp(watched);
});

test("a database is not away because a connection breaks or a statement fails", async () => {
  const watched = await watchDatabase();
  const { database, reach } = watched;
  const broken = failureOf(database.readPrepared("slow", "select pg_sleep(60)", []));
  const ended = sql<{ ended: boolean }>`
    select pg_terminate_backend(pid) as ended from pg_stat_activity
    where datname = current_database() and query like 'select pg_sleep(60)%'`;
  await expect.poll(async () => (await ended.execute(database.reads)).rows).toEqual([{ ended: true }]);
  const failures = [await broken, await failureOf(database.readPrepared("wrong", "select 1 / 0", []))];
  for (const failure of failures) expect(await reach.confirmAway(failure)).toBe(false);
  expect(watched.said).toEqual([]);
});

test("a database is away for as long as the machine is suspended, too", async () => {
  const watched = await watchDatabase();
  const { reach, cut, move } = watched;
  await lookUp(watched);
  cut();
  expect(await reach.confirmAway(await failureOf(lookUp(watched)))).toBe(true);
  move(3_600_000);
  expect(reach.awayMs()).toBeGreaterThanOrEqual(3_600_000);
});
