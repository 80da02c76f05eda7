// Opens an org as it was, for callers who may read its log, which was decided before.
import type { HandlerContext } from "@connectrpc/connect";
import { type RawBuilder, type Transaction, sql } from "kysely";
import { lifting } from "../../access/evaluation/allows.ts";
import type { Authorise } from "../../access/evaluation/authorise.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import type { LongReads } from "../../access/snapshots/long-reads.ts";
import { type OrgBase, readPastBase } from "../../access/snapshots/past-base.ts";
import { inTimeOfPast, maxPastMs } from "../../access/snapshots/past-snapshots.ts";
import { type AskedMoment, findAskedMoment } from "../../changes/past/asked-moment.ts";
import type { Moment } from "../../changes/past/find-moment.ts";
import { type PastOrg, readPastOrg, requireHead } from "../../changes/past/read-past-org.ts";
import { formatMicroseconds } from "../../changes/revision-time.ts";
import type { Database } from "../../database/database.ts";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import { type StatementLimits, limitsWithin, listLimits, settingsOf } from "../../database/transaction-limits.ts";
import { required } from "../../errors/required.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { FairQueue } from "../../scheduling/fair-queue.ts";
import type { ResourceRegistry } from "../definition/registry.ts";
import { asOfMoment } from "./past-tables.ts";

/** Records in the log of an org that the caller reads it: a line for each caller and hour. */
export type RecordLogRead = (
  context: HandlerContext,
  org: { readonly id: string; readonly name: string },
) => Promise<void>;

export interface PastDependencies {
  readonly database: Pick<Database, "reads">;
  readonly registry: Pick<ResourceRegistry, "definitionOf">;
  readonly authoriserOf: Authorise["authoriserOf"];
  readonly turns: FairQueue;
  readonly longReads: Pick<LongReads, "note">;
  readonly recordLogRead: RecordLogRead;
}

/** An org as it was, in a transaction that reads one snapshot. */
export interface OpenPast {
  readonly db: Transaction<Schema>;
  readonly org: PastOrg;
  readonly moment: Moment;
  readonly base: OrgBase;
  /** With which times are compared at which something ends by itself. */
  readonly now: RawBuilder<Date>;
  /** Whether the caller sees what is in suspended projects. */
  readonly seesSuspended: boolean;
  /** @throws ServiceError PERMISSION_DENIED, if the caller does not see it. */
  readonly requireSeesSuspended: () => Promise<void>;
  /** Runs a statement, answered as of then. */
  readonly run: <Row>(statement: RawBuilder<Row>) => Promise<readonly Row[]>;
}

/** The rule that errors name. */
export const rule = "as_of";

/**
 * @param pinned the revision, if an earlier page has found it.
 * @throws ServiceError FIELD_INVALID, RESOURCE_NOT_FOUND, REVISION_EXPIRED, RATE_LIMITED, DEADLINE_EXCEEDED, SERVICE_UNAVAILABLE.
 */
export async function inPast<Result>(
  { database, registry, authoriserOf, turns, longReads, recordLogRead }: PastDependencies,
  [top]: readonly Reference[],
  asked: AskedMoment,
  pinned: string | undefined,
  context: HandlerContext,
  read: (past: OpenPast) => Promise<Result>,
): Promise<Result> {
  const [caller, reads] = [callerOf(context), database.reads];
  const reference = required(top);
  const found = reads
    .selectFrom("orgs")
    .select(["id", "name", "customer_id"])
    .where(matchesReference(orgLevel, reference));
  const head = await found.executeTakeFirst();
  if (head === undefined) throw notFound("org", formatReferences(patterns.Org, [reference]));
  const { id, name } = head;
  const moment = await inTimeOfPast(() => {
    const of = pinned === undefined ? asked : { by: "revision" as const, revision: pinned, field: asked.field };
    return findAskedMoment(reads, id, of, caller.time, rule);
  });
  await recordLogRead(context, { id, name });
  const authoriser = await authoriserOf(caller, slicesOf(context));
  const toSeeSuspended = { permission: lifting.project, listVisibility: "never" } as const;
  const path = { pattern: patterns.Org, references: [reference] };
  const seesSuspended = (await authoriser.decideQuietly(toSeeSuspended, path)) !== undefined;
  const requireSeesSuspended = async () => void (await authoriser.decide(toSeeSuspended, path));
  const time = asked.by === "time" ? formatMicroseconds(asked.microseconds) : moment.time;
  const now = sql<Date>`${time}::timestamptz`;
  const transaction = reads.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  return turns.run({ orgId: caller.orgId, target: head.customer_id, signal: () => context.signal }, () => {
    const ending = AbortSignal.timeout(maxPastMs);
    const signal = AbortSignal.any([context.signal, ending]);
    return inTimeOfPast(
      () =>
        transaction.execute(async (db) => {
          await setLimits(db, limitsWithin(listLimits, context.timeoutMs()));
          const org = await readPastOrg<object>(db, id, moment, ["name"]);
          const base = await readPastBase(db, org, moment);
          longReads.note(org, base.distance);
          const run: OpenPast["run"] = async (statement) => {
            signal.throwIfAborted();
            return (await asOfMoment(registry, org, moment, base, statement).execute(db)).rows;
          };
          const result = await read({ db, org, moment, base, now, seesSuspended, requireSeesSuspended, run });
          await requireHead(db, org);
          return result;
        }),
      ending,
    );
  });
}

/**
 * A statement may take as long as one of a list: nothing ends it when nobody waits any more. How much has changed is not in the statistics of
 * the tables, so the planner expects a few rows, and would look through all that has changed once for each.
 */
async function setLimits(db: Transaction<Schema>, limits: StatementLimits): Promise<void> {
  const settings = Object.entries({ ...settingsOf(limits), enable_nestloop: "off" });
  await sql`select ${sql.join(settings.map(([name, value]) => sql`set_config(${name}, ${value}, true)`))}`.execute(db);
}
