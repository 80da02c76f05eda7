// Every write happens in one transaction that holds its org's row lock, so that writers of an org go one after the
// other and each sees what the one before did. What it changed is appended to `changes` under the org's next revision;
// because the lock is held until the commit, revisions are in commit order, with no gap. The deletion of something stands
// for all that is below it, which has no lines of its own.
import { type Selectable, type Transaction, sql } from "kysely";
import type { Database } from "../database/database.ts";
import { isRetryable } from "../database/failure.ts";
import { matchesReference, orgLevel } from "../database/match-reference.ts";
import type { Orgs, Schema } from "../database/schema.ts";
import { ServiceError, notFound } from "../errors/service-error.ts";
import { formatReferences, pathName } from "../paths/format-path.ts";
import { type ResourceType, patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { Author } from "./author.ts";

/** What became of one resource. */
export interface Change {
  readonly type: ResourceType;
  readonly id: string;
  readonly path: string;
  /** The row before and after, as JSON would show it; null where there was or is none. */
  readonly before: object | null;
  readonly after: object | null;
}

/** A transaction that holds an org's lock. */
export interface OrgTransaction {
  readonly db: Transaction<Schema>;
  readonly org: Selectable<Orgs>;
  readonly author: Author;
  /** The revision that this write will be; rows changed by it are marked with it. */
  readonly revision: string;
  /** The lines that the org's change log gets when the write ends. */
  readonly changes: readonly Change[];
  /** Adds a line. */
  readonly record: (change: Change) => void;
}

const maxAttempts = 3;

/** Servers that know no such column cannot write: they would not keep what this generation does. */
const writerGeneration = 2;

/** Runs a transaction; again, a bounded number of times, when it lost against another one. */
export async function inTransaction<Result>(
  database: Database,
  run: (db: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.writes.transaction().execute(run);
    } catch (error) {
      if (attempt >= maxAttempts || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Begins a write in an org: locks it.
 *
 * @param accepts the state that the org must be in: any for what changes the org itself and looks at its state, too.
 * @throws ServiceError RESOURCE_NOT_FOUND when there is no such org, STATE_FORBIDS when it is not active.
 */
export async function beginWrite(
  db: Transaction<Schema>,
  reference: Reference,
  author: Author,
  accepts: "active" | "any" = "active",
): Promise<OrgTransaction> {
  const org = await lockOrg(db, reference);
  if (accepts === "active") requireActiveOrg(org);
  const changes: Change[] = [];
  const revision = String(BigInt(org.revision) + 1n);
  return { db, org, author, revision, changes, record: (change) => changes.push(change) };
}

/**
 * Ends a write in an org: appends what it recorded to the change log, as the org's next revision. A write that recorded
 * nothing leaves the revision as it was.
 */
export async function endWrite({ db, org, author, revision, changes }: OrgTransaction): Promise<void> {
  if (changes.length === 0) return;
  await db.updateTable("orgs").set({ revision }).where("id", "=", org.id).execute();
  await appendChanges(db, org.id, revision, author, changes);
}

/** Runs a write in an org from its beginning to its end. */
export async function writeInOrg<Result>(
  db: Transaction<Schema>,
  reference: Reference,
  author: Author,
  write: (transaction: OrgTransaction) => Promise<Result>,
  accepts: "active" | "any" = "active",
): Promise<Result> {
  const transaction = await beginWrite(db, reference, author, accepts);
  const result = await write(transaction);
  await endWrite(transaction);
  return result;
}

/** Appends lines to an org's change log; the caller holds the org's lock, or has just created it. */
export async function appendChanges(
  db: Transaction<Schema>,
  orgId: string,
  revision: string,
  author: Author,
  changes: readonly Change[],
): Promise<void> {
  const rows = changes.map((change, position) => ({
    org_id: orgId,
    revision,
    position,
    actor_id: author.actorId,
    method: author.method,
    resource_type: change.type,
    resource_id: change.id,
    resource_path: change.path,
    writer: writerGeneration,
    before: change.before === null ? null : JSON.stringify(change.before),
    after: change.after === null ? null : JSON.stringify(change.after),
  }));
  await db.insertInto("changes").values(rows).execute();
}

async function lockOrg(db: Transaction<Schema>, reference: Reference): Promise<Selectable<Orgs>> {
  const org = await db
    .selectFrom("orgs")
    .selectAll()
    .where(matchesReference(orgLevel, reference))
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
  if (org === undefined) throw notFound("org", formatReferences(patterns.Org, [reference]));
  return org;
}

function requireActiveOrg(org: Selectable<Orgs>): void {
  const state = org.delete_time === null ? org.state : "DELETED";
  if (state === "ACTIVE") return;
  const path = formatReferences(patterns.Org, [{ by: "name", value: pathName(org) }]);
  throw new ServiceError("STATE_FORBIDS", `the org ${path} is ${state}: nothing in it can be changed`, {
    metadata: { resource: path, state },
  });
}
