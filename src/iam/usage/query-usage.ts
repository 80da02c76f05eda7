// Reads usage from the log. It costs what has changed since, so each customer has its turn, as for access as it was.
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { isReadOnly, isStatementTimeout } from "../../database/failure.ts";
import { readInChunks } from "../../database/read-in-chunks.ts";
import { type StatementLimits, limitsWithin, listLimits } from "../../database/transaction-limits.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { Installation } from "../../identity/installation.ts";
import { createFairQueue } from "../../scheduling/fair-queue.ts";
import { type GroupUsage, foldSeries } from "./fold-series.ts";
import { type AskedPeriod, type Period, periodUntil } from "./period.ts";
import { readFrame, requireLogged } from "./read-frame.ts";
import { selectSummed } from "./select-summed.ts";
import { type Dimensions, type GroupKey, type UsageRow, type UsageScope, selectUsage } from "./select-usage.ts";
import { type SummaryLimits, type Summarised, createSumUp, findSummary, pieceFor, summaryLimits } from "./summaries.ts";

interface UsageAnswer {
  readonly period: Period;
  /** In the order of the ids of the groups, and of the kinds. */
  readonly groups: readonly GroupUsage[];
}

interface UsageQuestion {
  readonly scope: UsageScope;
  readonly asked: AskedPeriod;
  readonly dimensions: Dimensions;
}

interface UsageCall {
  /** The org of the caller. */
  readonly orgId: string;
  readonly signal: AbortSignal;
  /** Returns the time until the deadline of the call, in milliseconds; undefined if there is none. */
  readonly timeoutMs: () => number | undefined;
}

/** @throws ServiceError FIELD_INVALID, REVISION_EXPIRED, RESOURCE_NOT_FOUND, RATE_LIMITED, DEADLINE_EXCEEDED when it takes too long. */
export type QueryUsage = (call: UsageCall, question: UsageQuestion) => Promise<UsageAnswer>;

export interface UsageLimits {
  /** How many points an answer has: steps of all series. */
  readonly maxPoints: number;
  /** Returns what ends a read that has begun. */
  readonly ending: () => AbortSignal;
  readonly summaries: SummaryLimits;
}

const maxReadMs = 30_000;

export const usageLimits: UsageLimits = {
  maxPoints: 10_000,
  ending: () => AbortSignal.timeout(maxReadMs),
  summaries: summaryLimits,
};

/** How many are read at once, on a connection each. With those that access as it was reads, one of four is left for others. */
const readsAtOnce = 1;

const chunkSize = 1_000;

interface QueryDependencies {
  readonly database: Pick<Database, "reads" | "writes">;
  readonly installation: Pick<Installation, "systemOrgId">;
}

export function createQueryUsage(
  { database, installation: { systemOrgId } }: QueryDependencies,
  { maxPoints, ending: startEnding, summaries }: UsageLimits = usageLimits,
): QueryUsage {
  const sumUp = createSumUp(database, systemOrgId, summaries);
  const turns = createFairQueue({ capacity: readsAtOnce, perTarget: 1, perOrg: 1, waitsFor: "usage to be read" });

  const readGroups = async (
    summarised: Summarised,
    period: Period,
    signal: AbortSignal,
    { statementMs }: Pick<StatementLimits, "statementMs">,
  ): Promise<GroupUsage[]> => {
    const groups: GroupUsage[] = [];
    const { scope, dimensions } = summarised;
    const snapshot = database.reads.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    const isValid = await snapshot.execute(async (db) => {
      await sql`select set_config('statement_timeout', ${`${statementMs}ms`}, true)`.execute(db);
      const summary = await findSummary(db, summarised);
      const select =
        summary === undefined
          ? selectUsage(scope, period, dimensions, systemOrgId)
          : selectSummed(scope, period, dimensions, systemOrgId, summary);
      for await (const rows of inGroups(readInChunks(db, select, chunkSize), signal)) {
        const group = foldSeries(period, rows);
        if (group === undefined) continue;
        groups.push(group);
        if (groups.length * period.steps > maxPoints) throw tooManyPoints(period, maxPoints);
        // A group of many steps takes milliseconds.
        await nextTurn();
      }
      return summary === undefined || (await findSummary(db, summarised)) !== undefined;
    });
    // The time came to purge an org while it was read: the summary has it, and the log no longer counts.
    return isValid ? groups : readGroups(summarised, period, signal, { statementMs });
  };

  return ({ orgId, signal, timeoutMs }, question) => {
    const { scope, asked, dimensions } = question;
    return turns.run({ orgId, target: scope.customerId, signal: () => signal }, async () => {
      const ending = startEnding();
      const either = AbortSignal.any([signal, ending]);
      return inTime(ending, async () => {
        const frame = await readFrame(database.reads, scope);
        const period = periodUntil(frame.now, asked);
        requireLogged(frame, period.start);
        const limits = () => limitsWithin(listLimits, timeoutMs());
        const summarised = { scope, dimensions, piece: pieceFor(period, summaries) };
        const terms = { signal: either, statementMs: () => limits().statementMs };
        await unlessReadOnly(sumUp({ summarised, frame, period }, terms));
        const groups = await readGroups(summarised, period, either, limits());
        // The log may have been cut meanwhile.
        requireLogged(await readFrame(database.reads, scope), period.start);
        return { period, groups };
      });
    });
  };
}

/** Yields the rows of each group. Other work on the event loop runs between chunks. */
async function* inGroups(
  chunks: AsyncIterable<readonly UsageRow[]>,
  signal: AbortSignal,
): AsyncIterable<readonly [UsageRow, ...UsageRow[]]> {
  let group: [UsageRow, ...UsageRow[]] | undefined;
  for await (const rows of chunks) {
    for (const row of rows) {
      if (group !== undefined && isOfGroup(row, group[0])) group.push(row);
      else {
        if (group !== undefined) yield group;
        group = [row];
      }
    }
    await nextTurn();
    signal.throwIfAborted();
  }
  if (group !== undefined) yield group;
}

const keys: readonly (keyof GroupKey)[] = ["org_id", "project_id", "service_id", "type_id", "kind"];

const isOfGroup = (row: GroupKey, of: GroupKey): boolean => keys.every((key) => row[key] === of[key]);

/** A database that takes no writes for now has what was summed up before, and the log. */
async function unlessReadOnly(sumsUp: Promise<void>): Promise<void> {
  await sumsUp.catch((error: unknown) => {
    if (!isReadOnly(error)) throw error;
  });
}

function tooManyPoints({ steps }: Period, maxPoints: number): ServiceError {
  const description = `gives more than ${Math.floor(maxPoints / steps)} series of ${steps} steps: group by less, take longer steps, or ask for one Org or Project at a time`;
  return invalidField("group_by", description, "usage.points");
}

/** @throws ServiceError DEADLINE_EXCEEDED. Another try would take as long, so it is not UNAVAILABLE, which clients try again. */
async function inTime<Result>(ending: AbortSignal, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (!isStatementTimeout(cause) && !(ending.aborted && cause === ending.reason)) throw cause;
    const message =
      "it takes too long to read what was consumed since then; ask again, which goes on from what is summed up by now, or ask for a later from_time, or for one Org or Project at a time";
    throw new ServiceError("DEADLINE_EXCEEDED", message, { cause });
  }
}
