// The entries of the change log. All of a transaction are inserted in one statement, whose text is the same for any number of them.
import { type Insertable, type RawBuilder, type Transaction, sql } from "kysely";
import { heldBack } from "../database/held-back.ts";
import type { Changes, Schema } from "../database/schema.ts";
import { required } from "../errors/required.ts";
import type { Author } from "./author.ts";
import type { Change } from "./write-in-org.ts";

/** A revision of an org, and its time. */
export interface TimedRevision {
  readonly orgId: string;
  readonly revision: string;
  readonly time: string;
}

/** A row of `changes`. What PostgreSQL stores as JSON is an object here. */
export type Entry = Omit<Insertable<Changes>, "before" | "after"> & Pick<Change, "before" | "after">;

/** The format of the entries that this version writes. Servers that do not know the column cannot write. */
const entryFormat = 3;

/** Returns the entries of a revision. */
export function entriesOf(
  { orgId, revision, time }: TimedRevision,
  { actorOrgId, actorId, narrowing, method, origin }: Author,
  changes: readonly Change[],
): Entry[] {
  return changes.map((change, position) => ({
    org_id: orgId,
    revision,
    position,
    time,
    format: entryFormat,
    actor_org_id: actorOrgId,
    actor_id: actorId,
    impersonator_id: narrowing?.impersonatorId ?? null,
    credential_id: origin.credentialId,
    on_behalf_of: origin.onBehalfOf,
    method,
    request_id: origin.requestId,
    remote_address: origin.remoteAddress,
    user_agent: origin.userAgent,
    reason: origin.reason,
    resource_type: change.type,
    resource_id: change.id,
    resource_path: change.path,
    end_time: change.endTime ?? null,
    before: change.before,
    after: change.after,
  }));
}

/** Appends entries to the change log of an org, and makes the last revision its head. */
export async function appendEntries(
  db: Transaction<Schema>,
  { orgId, revision, time }: TimedRevision,
  entries: readonly Entry[],
): Promise<void> {
  await sql`
    with head as (update orgs set revision = ${revision}, revision_time = ${time} where id = ${orgId})
    ${insertOf(entries)} ${heldBack}`.execute(db);
}

/** Inserts entries for an org that was just created with their revision. */
export async function insertEntries(db: Transaction<Schema>, entries: readonly Entry[]): Promise<void> {
  await insertOf(entries).execute(db);
}

function insertOf(entries: readonly Entry[]): RawBuilder<unknown> {
  const names = Object.keys(required(entries[0])) as (keyof Entry)[];
  const columns = sql.join(names.map((column) => sql.ref(column)));
  const { shared, own } = splitShared(names, entries);
  return sql`
    insert into changes (${columns})
    select ${columns} from json_populate_recordset(json_populate_record(null::changes, ${shared}), ${own})`;
}

/** Returns what several entries have in common, and the rest of each, as JSON. Most of an entry is about the call. */
function splitShared(
  names: readonly (keyof Entry)[],
  entries: readonly Entry[],
): { readonly shared: string; readonly own: string } {
  const [first, ...others] = entries;
  if (first === undefined || others.length === 0) return { shared: "{}", own: JSON.stringify(entries) };
  const isShared = (name: keyof Entry): boolean => others.every((entry) => entry[name] === first[name]);
  const { shared = [], own = [] } = Object.groupBy(names, (name) => (isShared(name) ? "shared" : "own"));
  const pick = (entry: Entry, some: readonly (keyof Entry)[]) =>
    Object.fromEntries(some.map((name) => [name, entry[name]]));
  return { shared: JSON.stringify(pick(first, shared)), own: JSON.stringify(entries.map((entry) => pick(entry, own))) };
}
