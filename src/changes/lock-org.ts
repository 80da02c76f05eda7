import { type CompiledQuery, type Kysely, type Selectable, type Transaction, sql } from "kysely";
import type { Committed } from "../database/commits.ts";
import { readClock } from "../database/clock.ts";
import { isAnyListening } from "../database/hints.ts";
import { matchesReference, orgLevel } from "../database/match-reference.ts";
import type { Orgs, Schema } from "../database/schema.ts";
import { type StatementTemplate, createStatementTemplate } from "../database/statement-template.ts";
import type { Later, WriteTransaction } from "../database/write-transaction.ts";
import type { StatementLimits } from "../database/transaction-limits.ts";
import { ServiceError, notFound } from "../errors/service-error.ts";
import { formatReferences, pathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/parse-path.ts";
import type { LockedOrg } from "./author.ts";
import { microsecondsOf } from "./revision-time.ts";

const orgColumns = [
  "id",
  "customer_id",
  "name",
  "state",
  "delete_time",
  "revision",
  "chain_revision",
  "chain_start",
  "chain_hash",
] as const;

type OrgColumns = Pick<Selectable<Orgs>, (typeof orgColumns)[number]>;

export type LockedOrgRow = OrgColumns &
  LockedOrg & {
    /** The same as `lockTime`, in microseconds. */
    readonly clock: number;
    /** The earliest time of the next revision, in microseconds. */
    readonly nextTime: number;
    /** Of the database; null if it does not say. */
    readonly timeline: number | null;
  } & Followed;

/** Who wants to know that the log of an org has gone on. */
type Followed = Pick<Committed, "is_watched" | "has_webhooks" | "has_event_streams">;

/** What the statement reads. Times are in seconds. */
export type FoundRow = OrgColumns &
  Followed & {
    readonly clock: string;
    readonly last_time: string;
    readonly timeline: number | null;
  };

/** Waits for the lock of writes in an org and takes it. Returns false if the org does not exist or can be purged itself. */
export async function lockOrgThatStays(db: Transaction<Schema>, orgId: string): Promise<boolean> {
  const lock = db.selectFrom("orgs").select("purge_time").where("id", "=", orgId);
  const org = await lock.modifyEnd(sql`for no key update`).executeTakeFirst();
  if (org === undefined) return false;
  return org.purge_time === null || org.purge_time > new Date(await readClock(db));
}

/**
 * Locks an org together with the next statement. Throws later ServiceError RESOURCE_NOT_FOUND.
 *
 * @param limits of this wait for the lock and of the statements after it; undefined to keep those that are set.
 */
export function lockOrgWithNext(
  db: WriteTransaction,
  reference: Reference,
  limits?: StatementLimits,
): Later<LockedOrgRow> {
  const found = db.readWithNext(lockStatement(db, reference, limits));
  return () => requireLocked(reference, found());
}

function lockStatement(
  db: Transaction<Schema>,
  reference: Reference,
  limits?: StatementLimits,
): CompiledQuery<FoundRow> {
  const statement = limits === undefined ? lockStatements[reference.by] : limitedLockStatements[reference.by];
  const values = [limits && `${limits.statementMs}ms`, limits && `${limits.lockMs}ms`];
  return statement(db, [reference.by === "any" ? null : reference.value, ...values]);
}

/** @throws ServiceError RESOURCE_NOT_FOUND */
function requireLocked(reference: Reference, [found]: readonly FoundRow[]): LockedOrgRow {
  if (found === undefined) throw notFound("org", formatReferences(patterns.Org, [reference]));
  return toLocked(found);
}

/** Returns what was locked with the times that a write in it needs. */
export function toLocked(found: FoundRow): LockedOrgRow {
  const { last_time: lastTime, ...org } = found;
  const clock = microsecondsOf(org.clock);
  const nextTime = Math.max(clock, microsecondsOf(lastTime) + 1);
  return { ...org, lockTime: new Date(Math.floor(clock / 1000)), clock, nextTime };
}

const lockStatements = createLockStatements((query) => query);
const limitedLockStatements = createLockStatements((query, statementMs, lockMs) =>
  // Conditions are evaluated before the row is locked.
  query
    .where(sql<boolean>`set_config('statement_timeout', ${statementMs}, true) is not null`)
    .where(sql<boolean>`set_config('lock_timeout', ${lockMs}, true) is not null`),
);

/** Creates the statements that lock an org, by how it is named. */
function createLockStatements(
  limit: (query: SelectOrgs, statementMs: unknown, lockMs: unknown) => SelectOrgs,
): Readonly<Record<Reference["by"], StatementTemplate<FoundRow>>> {
  const by = (kind: Reference["by"]): StatementTemplate<FoundRow> =>
    createStatementTemplate(3, (db, [value, statementMs, lockMs]) =>
      db
        .with(
          (cte) => cte("locked").materialized(),
          () =>
            limit(selectOrgs(db), statementMs, lockMs)
              .where(matchesReference(orgLevel, { by: kind }, sql`${value}`))
              .modifyEnd(sql`for no key update`),
        )
        .selectFrom("locked")
        .select(orgColumns)
        // The outer query gets the row when it is locked.
        .select(sql<string>`extract(epoch from clock_timestamp())::text`.as("clock"))
        .select(sql<string>`extract(epoch from revision_time)::text`.as("last_time"))
        .select(sql<number | null>`log_timeline()`.as("timeline"))
        .select(isAnyListening.as("is_watched"))
        .select(hasWebhooks.as("has_webhooks"))
        .select(hasEventStreams.as("has_event_streams"))
        .compile(),
    );
  return { id: by("id"), name: by("name"), any: by("any") };
}

/** Read with the lock, so that what follows a commit sends nothing for orgs that nobody follows. */
const hasWebhooks = sql<boolean>`exists (
  select from webhooks
  where org_id in (locked.id, locked.customer_id) and customer_id = locked.customer_id and state = 'ACTIVE'
)`;
const hasEventStreams = sql<boolean>`exists (
  select from event_streams
  where org_id = locked.id and customer_id = locked.customer_id and state = 'ACTIVE' and push_url <> ''
)`;

type SelectOrgs = ReturnType<typeof selectOrgs>;

function selectOrgs(db: Kysely<Schema>) {
  return db.selectFrom("orgs").select([...orgColumns, "revision_time"]);
}

/** @throws ServiceError STATE_FORBIDS */
export function requireActiveOrg(org: OrgColumns): void {
  const state = org.delete_time === null ? org.state : "DELETED";
  if (state === "ACTIVE") return;
  const path = formatReferences(patterns.Org, [{ by: "name", value: pathName(org) }]);
  throw new ServiceError("STATE_FORBIDS", `the org ${path} is ${state}: nothing in it can be changed`, {
    metadata: { resource: path, state },
  });
}
