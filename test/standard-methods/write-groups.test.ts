import { type Transaction, sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { type WriteGroup, beginInGroup, endInGroup } from "../../src/changes/write-group.ts";
import type { OrgTransaction } from "../../src/changes/write-in-org.ts";
import { numberOf } from "../../src/changes/revision.ts";
import type { Schema } from "../../src/database/schema.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { createFairQueue } from "../../src/scheduling/fair-queue.ts";
import { createWriteGroups } from "../../src/standard-methods/write/write-groups.ts";
import { addLogged, changesOf, createGate, revisionOf } from "../changes/logged-writes.ts";
import { addOrg, sampleAuthor, write as writeAlone } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { loseLocks } from "../support/lost-locks.ts";

const database = useSharedDatabase();
let serial = 0;
let org: OrgRow;
beforeEach(async () => {
  org = await addOrg(database(), `org-${++serial}`);
});

interface Made {
  readonly revision: number;
  readonly time: string;
  /** Identifies the transaction. */
  readonly transaction: string;
}

const idOf = async (db: Transaction<Schema>): Promise<string> => {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(db);
  return rows[0]?.id ?? "";
};

/** A write; one that returns an error fails with it when its entries are already in the group. */
type Write = (transaction: OrgTransaction) => Promise<unknown>;

const inGroup =
  (write: Write) =>
  async (group: WriteGroup): Promise<Made> => {
    const transaction = await beginInGroup(group, group.locks, sampleAuthor);
    const id = await idOf(group.db);
    const failure = await write(transaction);
    endInGroup(group, transaction);
    if (failure instanceof Error) throw failure;
    const { revision, time } = transaction;
    return { revision: Number(numberOf(revision)), time, transaction: id };
  };

/**
 * Starts writes behind one that runs until all of them wait.
 *
 * @returns what became of each: what it made, or the reason or code of its error.
 */
async function runBehind(
  writes: readonly Write[],
  {
    signals = [],
    remaining = [],
    capacity = 1,
    by = "id",
    onFirst,
    ...limits
  }: {
    maxWrites?: number;
    maxMs?: number;
    signals?: readonly AbortSignal[];
    remaining?: readonly (number | undefined)[];
    /** The number of writes that have their turns at once. */
    capacity?: number;
    /** How the writes refer to their org. */
    by?: "id" | "name";
    /** Runs when it is known what became of the first write. */
    onFirst?: () => void;
  } = {},
): Promise<(Made | string)[]> {
  const writeQueue = createFairQueue({ capacity, perTarget: capacity });
  const groups = createWriteGroups({ database: database(), writeQueue, maxMs: 10_000, ...limits });
  const { open, opened } = createGate();
  // It is no write of a group, so that nothing joins it.
  const before = writeQueue.run({ orgId: org.id, target: org.id, signal: () => AbortSignal.any([]) }, () => opened);
  const calls = writes.map((write, index) =>
    groups
      .run(
        {
          orgId: org.id,
          locks: { org: { by, value: org[by] } },
          signal: () => signals[index] ?? AbortSignal.any([]),
          remainingMs: () => remaining[index],
        },
        inGroup(write),
      )
      .catch(
        (error: { reason?: string; code?: string; message: string }) => error.reason ?? error.code ?? error.message,
      ),
  );
  void calls[0]?.then(onFirst);
  open();
  await before;
  return Promise.all(calls);
}

const revisionsOf = (results: readonly (Made | string)[]) =>
  results.map((result) => (typeof result === "string" ? result : result.revision));
const transactionsOf = (results: readonly (Made | string)[]): number =>
  new Set(results.flatMap((result) => (typeof result === "string" ? [] : [result.transaction]))).size;

const namesOf = async (): Promise<string[]> => {
  const rows = await database().reads.selectFrom("members").select("name").where("org_id", "=", org.id).execute();
  return rows.map(({ name }) => name).toSorted();
};

/** Waits until a transaction waits for a lock. */
async function waitForLockWaiter(count = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      database().reads,
    );
    if (rows.length >= count) return;
  }
}

const add =
  (name: string): Write =>
  (transaction) =>
    addLogged(transaction, name);
const refuse: Write = async (transaction) => {
  await addLogged(transaction, "refused");
  throw new ServiceError("STATE_FORBIDS", "no");
};
const failAtEnd: Write = async (transaction) => {
  await addLogged(transaction, "at end");
  return new Error("the response is too large");
};
const fail: Write = async (transaction) => {
  await addLogged(transaction, "failed");
  await sql`select 1 / 0`.execute(transaction.db);
};

describe("writes that wait for the lock of an org", () => {
  test("share a transaction, in their order, with a revision and a time each", async () => {
    const results = await runBehind(["a", "b", "c", "d"].map(add));
    expect(revisionsOf(results)).toEqual([2, 3, 4, 5]);
    expect(transactionsOf(results)).toBe(1);
    const logged = await changesOf(database(), org);
    expect(logged.map(({ revision }) => Number(numberOf(revision)))).toEqual([2, 3, 4, 5]);
    const times = results.map((result) => (typeof result === "string" ? "" : result.time));
    expect(new Set(times).size).toBe(4);
    expect(times.toSorted()).toEqual(times);
    expect(await revisionOf(database(), org)).toBe(5);
  });

  test("share a transaction also if they name the org", async () => {
    const results = await runBehind(["a", "b"].map(add), { by: "name" });
    expect(revisionsOf(results)).toEqual([2, 3]);
    expect(transactionsOf(results)).toBe(1);
  });

  test.each([
    ["is refused", refuse, "STATE_FORBIDS"],
    ["fails at its end", failAtEnd, "the response is too large"],
    ["fails in the database", fail, "22012"],
    ["breaks a constraint", add("a"), "23505"],
  ])("do not notice one that %s", async (_how, bad, reason) => {
    const results = await runBehind([add("a"), bad, add("b"), bad, add("c")]);
    expect(revisionsOf(results)).toEqual([2, reason, 3, reason, 4]);
    expect(transactionsOf(results)).toBe(1);
    expect(await namesOf()).toEqual(["a", "b", "c"]);
    expect(await changesOf(database(), org)).toHaveLength(3);
  });

  test("do not notice that the first fails", async () => {
    expect(revisionsOf(await runBehind([refuse, fail, add("a"), add("b")]))).toEqual(["STATE_FORBIDS", "22012", 2, 3]);
    expect(await namesOf()).toEqual(["a", "b"]);
  });

  test("are told their own errors, also if a statement fails that is sent with the next one", async () => {
    const failLate: Write = async (transaction) => {
      await addLogged(transaction, "late");
      transaction.db.sendWithNext(sql`insert into members (org_id) values (${org.id})`.compile(transaction.db));
    };
    const results = await runBehind([add("a"), failLate, add("b")]);
    expect(revisionsOf(results)).toEqual([2, "23502", 3]);
    expect(await namesOf()).toEqual(["a", "b"]);
    expect(await changesOf(database(), org)).toHaveLength(2);
  });

  test("are all repeated if the transaction conflicts with another, but for one whose caller has left", async () => {
    let attempts = 0;
    const leaving = new AbortController();
    const conflict: Write = async (transaction) => {
      await addLogged(transaction, "c");
      if (++attempts > 1) return;
      leaving.abort(new Error("the caller has left"));
      const raise = "do $$ begin raise exception 'conflict' using errcode = '40P01'; end $$";
      await sql.raw(raise).execute(transaction.db);
    };
    const none = new AbortController().signal;
    const writes = [add("a"), add("b"), conflict, add("d")];
    const results = await runBehind(writes, { signals: [none, leaving.signal, none, none] });
    expect(revisionsOf(results)).toEqual([2, "the caller has left", 3, 4]);
    expect(attempts).toBe(2);
    expect(await namesOf()).toEqual(["a", "c", "d"]);
  });

  test("are all repeated if the lock does not hold, and no revision is given twice", async () => {
    const meanwhile = () => writeAlone(database(), org, (transaction) => addLogged(transaction, "meanwhile"));
    const locks = loseLocks(org.id, 1, meanwhile);
    const results = await runBehind(["a", "b", "c"].map(add)).finally(locks.end);
    expect(locks.counts()).toEqual({ asked: 2, lost: 1 });
    expect(revisionsOf(results)).toEqual([3, 4, 5]);
    expect(transactionsOf(results)).toBe(1);
    expect((await changesOf(database(), org)).map(({ revision }) => Number(numberOf(revision)))).toEqual([2, 3, 4, 5]);
    expect(await namesOf()).toEqual(["a", "b", "c", "meanwhile"]);
  });

  test("do not fail with one that conflicts each time", async () => {
    const conflict: Write = async (transaction) => {
      await addLogged(transaction, "b");
      const raise = "do $$ begin raise exception 'conflict' using errcode = '40001'; end $$";
      await sql.raw(raise).execute(transaction.db);
    };
    expect(revisionsOf(await runBehind([add("a"), conflict, add("c")]))).toEqual([2, "40001", 3]);
    expect(await namesOf()).toEqual(["a", "c"]);
  });

  test("all fail if the connection is lost, and none is made", async () => {
    const lose: Write = async ({ db }) => {
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
    };
    const results = await runBehind([add("a"), lose, add("b")]);
    expect(results.slice(0, 2)).toEqual(["57P01", "57P01"]);
    // It had not begun.
    expect(revisionsOf(results.slice(2))).toEqual([2]);
    expect(await namesOf()).toEqual(["b"]);
  });

  test("begin another transaction after one that may change access", async () => {
    const rename: Write = async (transaction) => {
      const { id } = transaction.org;
      const change = { type: "Group", id, path: "/orgs/x/groups/y", containerId: id } as const;
      transaction.record({ ...change, before: { name: "a" }, after: { name: "b" } });
    };
    const results = await runBehind([add("a"), rename, add("b"), add("c")]);
    expect(revisionsOf(results)).toEqual([2, 3, 4, 5]);
    const ids = results.map((result) => (typeof result === "string" ? "" : result.transaction));
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[1]);
    expect(ids[3]).toBe(ids[2]);
  });

  test("begin another transaction when many have been made in one, or for long", async () => {
    const names = ["a", "b", "c", "d", "e"];
    expect(transactionsOf(await runBehind(names.map(add), { maxWrites: 2 }))).toBe(3);
    expect(
      transactionsOf(
        await runBehind(
          names.map((name) => add(`${name}2`)),
          { maxMs: 0 },
        ),
      ),
    ).toBe(5);
  });

  test("do not wait for one whose caller has left, which is not made", async () => {
    const leaving = new AbortController();
    const leave: Write = async (transaction) => {
      await addLogged(transaction, "a");
      leaving.abort(new Error("the caller has left"));
    };
    const { signal } = leaving;
    const none = new AbortController().signal;
    const results = await runBehind([leave, add("b"), add("c")], { signals: [none, signal, none] });
    expect(revisionsOf(results)).toEqual([2, "the caller has left", 3]);
    expect(await namesOf()).toEqual(["a", "c"]);
  });

  test("have the limits of statements that their own deadlines allow, also after one that has failed", async () => {
    const seen: unknown[] = [];
    const look: Write = async ({ db }) => {
      const { rows } = await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(db);
      seen.push(rows[0]?.limit);
      if (seen.length === 3) throw new Error("refused");
    };
    const remaining = [20_000, 1_000, 500, 1_000, 20_000, 1_000_000];
    await runBehind(
      remaining.map(() => look),
      { remaining },
    );
    expect(seen).toEqual(["16s", "800ms", "400ms", "800ms", "16s", "30s"]);
  });

  test("wait for the lock within their own deadlines, not that of the first", async () => {
    const { open, opened } = createGate();
    const locked = createGate();
    const holder = database()
      .writes.transaction()
      .execute(async (db) => {
        await sql`select from orgs where id = ${org.id} for update`.execute(db);
        locked.open();
        await opened;
      });
    await locked.opened;
    // Those that had the deadline of the first would have failed before the lock is free.
    const onFirst = () => void setTimeout(open, 2_000);
    const remaining = [1_000, undefined, 20_000];
    const results = await runBehind(["a", "b", "c"].map(add), { capacity: 3, remaining, onFirst });
    await holder;
    expect(revisionsOf(results)).toEqual(["55P03", 2, 3]);
  });

  test("are repeated also if the deadline of the first one has passed meanwhile", async () => {
    const raise = "do $$ begin raise exception 'conflict' using errcode = '40P01'; end $$";
    const { open, opened } = createGate();
    let attempts = 0;
    let holder: Promise<unknown> = opened;
    let barrier: Promise<unknown> = opened;
    const conflict: Write = async ({ db }) => {
      if (++attempts > 1) return;
      const held = createGate();
      holder = database()
        .writes.transaction()
        .execute(async (other) => {
          await sql`select from orgs where id = ${org.id} for update`.execute(other);
          held.open();
          await opened;
        });
      await waitForLockWaiter();
      // The repetition could come before it. So it must wait for who waits for the table, which is until the holder has the row.
      barrier = database()
        .writes.transaction()
        .execute(async (third) => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(third);
          void held.opened.then(() => sql`select pg_cancel_backend(${rows[0]?.pid})`.execute(database().reads));
          await sql`lock table orgs in exclusive mode`.execute(third);
        })
        .catch(() => undefined);
      await waitForLockWaiter(2);
      await sql.raw(raise).execute(db);
    };
    // Its deadline leaves room for its own statements on a busy machine. The holder lets go when it has passed.
    const remaining = [3_000, 20_000, 20_000];
    const results = await runBehind([add("a"), conflict, add("c")], { remaining, onFirst: open });
    await Promise.all([holder, barrier]);
    expect(results[0]).toBe("55P03");
    expect(await namesOf()).toEqual(["c"]);
    expect(attempts).toBe(2);
  });

  test("are committed within the longest of their deadlines", async () => {
    const { open, opened } = createGate();
    let holder: Promise<unknown> = opened;
    const block: Write = async (transaction) => {
      await addLogged(transaction, "b");
      const locked = createGate();
      holder = database()
        .writes.transaction()
        .execute(async (db) => {
          await sql`lock table changes in share mode`.execute(db);
          locked.open();
          await opened;
        });
      await locked.opened;
      setTimeout(open, 4_000);
    };
    const results = await runBehind([add("a"), block], { remaining: [20_000, 3_000] });
    await holder;
    expect(revisionsOf(results)).toEqual([2, 3]);
    expect(await namesOf()).toEqual(["a", "b"]);
  });

  test("are answered also if their commit cannot be followed, and the others run", async () => {
    const failures: unknown[] = [];
    const refuseToFollow = (): void => {
      throw new Error("not followed");
    };
    const end = database().commits.subscribe(refuseToFollow, (error) => failures.push(error));
    const results = await runBehind(["a", "b", "c", "d"].map(add), { maxWrites: 2 });
    end();
    expect(revisionsOf(results)).toEqual([2, 3, 4, 5]);
    expect(await namesOf()).toEqual(["a", "b", "c", "d"]);
    expect(failures.map(String)).toEqual(["Error: not followed", "Error: not followed"]);
  });

  test("of callers of several orgs share none", async () => {
    const writeQueue = createFairQueue({ capacity: 1, perTarget: 1 });
    const groups = createWriteGroups({ database: database(), writeQueue });
    const signal = () => new AbortController().signal;
    const calls = ["one", "other", "one", "other"].map((orgId, index) =>
      groups.run(
        { orgId, locks: { org: { by: "id", value: org.id } }, signal, remainingMs: () => undefined },
        inGroup(add(`m-${index}`)),
      ),
    );
    const ids = (await Promise.all(calls)).map(({ transaction }) => transaction);
    expect(ids.filter((id, index) => ids.indexOf(id) % 2 !== index % 2)).toEqual([]);
    expect(await revisionOf(database(), org)).toBe(5);
  });
});
