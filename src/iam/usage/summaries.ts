// Sums up usage by pieces of time that are over: hours or days. A summary is of one scope, divided in one way, because the greatest sum of
// several groups does not follow from those of each. It is made when somebody asks, from the log, a bounded time in a transaction; another
// question goes on from there. A piece is summed up when no change of it can come any more: its orgs have revisions after it, or nobody writes
// them, and who begins later has a later time.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { v7 as uuidv7 } from "uuid";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import { formatMicroseconds } from "../../changes/revision-time.ts";
import type { Period } from "./period.ts";
import type { UsageFrame } from "./read-frame.ts";
import { removeSummaries } from "./remove-summaries.ts";
import { type Summary, isOfSummary, placeOf } from "./select-summed.ts";
import {
  type Dimensions,
  type LogRange,
  type UsageScope,
  groupKeys,
  selectAmountsOfNow,
  selectChanges,
  selectOrgsInPurge,
} from "./select-usage.ts";

/** What a summary is of. */
export interface Summarised {
  readonly scope: UsageScope;
  readonly dimensions: Dimensions;
  /** The length of the pieces, in microseconds. */
  readonly piece: number;
}

export interface SummaryLimits {
  /** The lengths of pieces that there are, in microseconds: the shortest first, of which each further one has a whole number. */
  readonly pieces: readonly [number, ...number[]];
  /** How long a piece is over before it is summed up: the clock of the database may have been set back by less. */
  readonly marginMicroseconds: number;
  /** A question about fewer pieces makes no summary. */
  readonly leastPieces: number;
}

const hour = 3_600e6;

export const summaryLimits: SummaryLimits = {
  pieces: [hour, 24 * hour],
  marginMicroseconds: 600e6,
  leastPieces: 12,
};

/** Steps of so many long pieces are read from these, even if each begins in one of which the log is read. */
const piecesPerStep = 7;

/** Returns the longest pieces that serve a period. */
export function pieceFor({ start, step }: Period, { pieces }: SummaryLimits): number {
  const serves = (piece: number) => step >= piecesPerStep * piece || (start % piece === 0 && step % piece === 0);
  return pieces.findLast(serves) ?? pieces[0];
}

interface SummaryRow {
  readonly id: string;
  readonly begins: string;
  readonly ends: string;
}

/** Returns the summary; undefined if there is none, or if orgs of it count no longer. */
export async function findSummary(db: Kysely<Schema>, summarised: Summarised): Promise<Summary | undefined> {
  const { rows } = await sql<SummaryRow>`
    select id, begins, ends from usage_summaries where ${isSummary(summarised)} and orgs = ${orgsUntil(summarised, sql`ends`)}`.execute(
    db,
  );
  const [row] = rows;
  const { piece } = summarised;
  return row && { id: row.id, piece, begins: Number(row.begins), ends: Number(row.ends) };
}

/** Where a question is: what it is about, and how far. */
interface Question {
  readonly summarised: Summarised;
  readonly frame: UsageFrame;
  readonly period: Period;
}

/** Runs one transaction of several, if there is still time. */
type Begin = <Result>(run: (db: Transaction<Schema>) => Promise<Result>) => Promise<Result>;

interface Terms {
  readonly signal: AbortSignal;
  readonly statementMs: () => number;
}

/** Sums up as much as a question needs and is over, if that is worth it. */
export type SumUp = (question: Question, terms: Terms) => Promise<void>;

export function createSumUp(
  { writes }: Pick<Database, "writes">,
  systemOrgId: string,
  { leastPieces, marginMicroseconds }: SummaryLimits,
): SumUp {
  return async ({ summarised, frame, period }, { signal, statementMs }) => {
    const { piece, scope } = summarised;
    const over = downTo(piece, frame.clock - marginMicroseconds);
    // There was nothing before the scope was created.
    const from = upTo(piece, Math.max(period.start, downTo(piece, frame.created)));
    const begin: Begin = async (run) => {
      await nextTurn();
      signal.throwIfAborted();
      return writes.transaction().execute(async (db) => {
        await sql`select set_config('statement_timeout', ${`${statementMs()}ms`}, true)`.execute(db);
        return run(db);
      });
    };
    const add = (summary: Summary, range: LogRange) =>
      begin((db) => addRange(db, { summarised, frame, summary, range, systemOrgId }));
    const find = () => begin((db) => findSummary(db, summarised));
    const extend = createExtend(add, find, piece);
    let summary = await find();
    if (summary === undefined && over - from < leastPieces * piece) return;
    if ((summary?.ends ?? 0) < over && (await begin((db) => isClosed(db, scope, over)))) {
      if (summary === undefined) while ((await begin((db) => removeSomeOf(db, summarised))) > 0);
      summary ??= await begin((db) => createSummary(db, summarised, over, systemOrgId));
      summary = await extend(summary, ({ ends }, span) => ({ begins: ends, ends: Math.min(over, ends + span) }));
    }
    await extend(summary, ({ begins }, span) => ({ begins: Math.max(from, begins - span), ends: begins }));
  };
}

/** How many pieces are summed up at first. Less at once than takes long, and more than takes nearly no time. */
const firstPieces = 8;
const quickMs = 150;
const slowMs = 600;

/** Returns a function that adds ranges to a summary until there is nothing in the next one. */
function createExtend(
  add: (summary: Summary, range: LogRange) => Promise<Summary | undefined>,
  find: () => Promise<Summary | undefined>,
  piece: number,
): (
  summary: Summary | undefined,
  nextRange: (summary: Summary, span: number) => LogRange,
) => Promise<Summary | undefined> {
  return async (first, nextRange) => {
    let summary = first;
    let pieces = firstPieces;
    while (summary !== undefined) {
      const range = nextRange(summary, pieces * piece);
      if (range.begins >= range.ends) break;
      const startedAt = performance.now();
      // Another server may have gone on meanwhile, or orgs count no longer.
      summary = (await add(summary, range)) ?? (await find());
      const tookMs = performance.now() - startedAt;
      if (tookMs < quickMs) pieces *= 2;
      else if (tookMs > slowMs) pieces = Math.max(1, Math.floor(pieces / 2));
    }
    return summary;
  };
}

/** Whether no change can come any more that is not later. Does not wait for who writes: the next question asks again. */
async function isClosed(db: Transaction<Schema>, { customerId, orgId }: UsageScope, over: number): Promise<boolean> {
  const areBehind = sql`customer_id = ${customerId} ${orgId === null ? sql`` : sql`and id = ${orgId}`}
    and revision_time < ${formatMicroseconds(over)}::timestamptz`;
  const { rows } = await sql<{ closed: boolean }>`
    with locked as (select id from orgs where ${areBehind} for share skip locked)
    select (select count(*) from orgs where ${areBehind}) = (select count(*) from locked) as closed`.execute(db);
  return rows[0]?.closed === true;
}

/** Makes a summary of no pieces, with the amounts at its end. Returns undefined if the scope is being purged. */
async function createSummary(
  db: Transaction<Schema>,
  summarised: Summarised,
  ends: number,
  systemOrgId: string,
): Promise<Summary | undefined> {
  const { scope, dimensions, piece } = summarised;
  if (!(await lockScope(db, scope))) return undefined;
  const id = uuidv7();
  const { numAffectedRows = 0n } = await sql`
    insert into usage_summaries (customer_id, org_id, scope_id, divided_by, piece, id, begins, ends, orgs)
    values (${scope.customerId}, ${placeOf(scope)}, ${scope.id}, ${textOf(dimensions)}, ${piece}::bigint, ${id}, ${ends}::bigint,
      ${ends}::bigint, ${orgsUntil(summarised, sql`${ends}::bigint`)})
    on conflict do nothing`.execute(db);
  if (numAffectedRows === 0n) return findSummary(db, summarised);
  const summary = { id, piece, begins: ends, ends };
  await insertSums(
    db,
    scope,
    summary,
    sql`
      select null::bigint, ${groupKeys}, sum(amount), 0, 0 from (
        select ${groupKeys}, amount from (${selectAmountsOfNow(scope, dimensions)}) as of_now
        union all
        select ${groupKeys}, -amount
        from (${selectChanges(scope, dimensions, [{ begins: ends, ends: Infinity }], systemOrgId)}) as changed
      ) as at_end group by ${groupKeys} having sum(amount) <> 0`,
  );
  return summary;
}

interface Addition {
  readonly summarised: Summarised;
  readonly frame: UsageFrame;
  readonly summary: Summary;
  /** Of whole pieces, before the summary or after it. */
  readonly range: LogRange;
  readonly systemOrgId: string;
}

/** Adds to a summary. Returns undefined if it is another one by now. */
async function addRange(
  db: Transaction<Schema>,
  { summarised, frame, summary, range, systemOrgId }: Addition,
): Promise<Summary | undefined> {
  const { scope, dimensions, piece } = summarised;
  const isForward = range.begins === summary.ends;
  const begins = Math.max(frame.oldest, Math.min(summary.begins, range.begins));
  const ends = Math.max(summary.ends, range.ends);
  if (!(await lockScope(db, scope))) return undefined;
  const { numAffectedRows = 0n } = await sql`
    update usage_summaries
    set begins = ${begins}::bigint, ends = ${ends}::bigint, orgs = ${orgsUntil(summarised, sql`${ends}::bigint`)}
    where ${isSummary(summarised)} and id = ${summary.id} and begins = ${summary.begins}::bigint and ends = ${summary.ends}::bigint
      and orgs = ${orgsUntil(summarised, sql`ends`)}`.execute(db);
  if (numAffectedRows === 0n) return undefined;
  await insertSums(
    db,
    scope,
    summary,
    sql`
      select begins, ${groupKeys}, sum(amount), sum(amount * (at - begins)), max(reached) from (
        select begins, ${groupKeys}, at, amount, sum(amount) over (partition by begins, ${groupKeys} order by at) as reached
        from (
          select (at - 1) / ${piece}::bigint * ${piece}::bigint as begins, ${groupKeys}, at, amount
          from (${selectChanges(scope, dimensions, [range], systemOrgId)}) as changed
        ) as in_pieces
      ) as running group by begins, ${groupKeys}`,
  );
  if (isForward) await moveAmounts(db, scope, summary, range);
  // The log no longer has what is older, so nobody can ask about it.
  if (begins > summary.begins) {
    await sql`delete from usage_sums where ${isOfSummary(scope, summary)} and begins < ${begins}::bigint`.execute(db);
  }
  return { ...summary, begins, ends };
}

/** Moves the amounts at the end of a summary on to the end of what was added. */
async function moveAmounts(
  db: Transaction<Schema>,
  scope: UsageScope,
  summary: Summary,
  { begins }: LogRange,
): Promise<void> {
  const keys = sql`of_org_id, project_id, service_id, type_id, kind`;
  await insertSums(
    db,
    scope,
    summary,
    sql`
      select null::bigint, ${keys}, sum(change), 0, 0 from (
        select ${keys}, change from gone
        union all
        select ${keys}, change from usage_sums where ${isOfSummary(scope, summary)} and begins >= ${begins}::bigint
      ) as at_end group by ${keys} having sum(change) <> 0`,
    sql`with gone as (delete from usage_sums where ${isOfSummary(scope, summary)} and begins is null returning ${keys}, change)`,
  );
}

/** @param selected selects when the piece begins, the group, and the sums. */
async function insertSums(
  db: Transaction<Schema>,
  scope: UsageScope,
  { id }: Summary,
  selected: RawBuilder<unknown>,
  first: RawBuilder<unknown> = sql``,
): Promise<void> {
  const columns = sql`begins, of_org_id, project_id, service_id, type_id, kind, change, moment, highest`;
  await sql`
    ${first} insert into usage_sums (customer_id, org_id, summary_id, ${columns})
    select ${scope.customerId}::uuid, ${placeOf(scope)}::uuid, ${id}::uuid, selected.*
    from (${selected}) as selected (${columns})`.execute(db);
}

/** Keeps the purge of a scope from ending before the transaction does. Returns false if it has ended. */
async function lockScope(db: Transaction<Schema>, { customerId, orgId }: UsageScope): Promise<boolean> {
  const { rows } = await (
    orgId === null
      ? sql`select from customers where id = ${customerId} for key share`
      : sql`select from orgs where customer_id = ${customerId} and id = ${orgId} for key share`
  ).execute(db);
  return rows.length > 0;
}

/** How many sums a transaction removes. */
const removedAtOnce = 10_000;

/** Removes the summary that there is, or some of its sums. Returns 0 if there is none. */
async function removeSomeOf(db: Transaction<Schema>, summarised: Summarised): Promise<number> {
  const { scope } = summarised;
  const place = { customer_id: scope.customerId, id: placeOf(scope) };
  return removeSummaries(db, place, isSummary(summarised), removedAtOnce);
}

function isSummary({ scope, dimensions, piece }: Summarised): RawBuilder<SqlBool> {
  return sql`customer_id = ${scope.customerId} and org_id = ${placeOf(scope)} and scope_id = ${scope.id}
    and divided_by = ${textOf(dimensions)} and piece = ${piece}::bigint`;
}

function textOf(dimensions: Dimensions): string {
  const names = ["org", "project", "service", "type"] as const;
  return names.filter((name) => dimensions[name]).join(" ");
}

/** Selects the ids of the orgs that count and were created before a time, as an array. */
function orgsUntil({ scope: { customerId, orgId } }: Summarised, time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`array(
    select id from orgs where customer_id = ${customerId} ${orgId === null ? sql`` : sql`and id = ${orgId}`}
      and create_time < to_timestamp(${time} / 1000000.0) and id <> all (array(${selectOrgsInPurge(customerId)}))
    order by id)`;
}

const downTo = (piece: number, time: number): number => time - (time % piece);
const upTo = (piece: number, time: number): number => downTo(piece, time + piece - 1);
