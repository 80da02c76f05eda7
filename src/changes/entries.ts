// The entries of the change log. All of a transaction are inserted in one statement, whose text is the same for any number of them.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Entry } from "../database/commits.ts";
import { type OrgKey, isLogOfCustomer } from "../database/org-key.ts";
import { selectRows } from "../database/select-rows.ts";
import { type StatementTemplate, createStatementTemplate } from "../database/statement-template.ts";
import type { Author } from "./author.ts";
import { type ChainEnd, bytes } from "./chain.ts";
import type { Change } from "./change.ts";
import type { LockedOrgRow } from "./lock-org.ts";
import { splitCommon } from "./split-common.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";

/** A revision of an org, and its time. */
export interface TimedRevision {
  readonly org: OrgKey;
  readonly revision: string;
  readonly time: string;
  /** The timeline of the database, if it was read with the lock. */
  readonly timeline?: number | null;
}

/** With their types. */
const columnTypes: Readonly<Record<keyof Entry, string>> = {
  customer_id: "uuid",
  org_id: "uuid",
  revision: "uuid",
  position: "int",
  time: "timestamptz",
  format: "smallint",
  actor_org_id: "uuid",
  actor_id: "uuid",
  impersonator_id: "uuid",
  credential_id: "uuid",
  on_behalf_of: "text",
  method: "text",
  request_id: "text",
  remote_address: "inet",
  user_agent: "text",
  reason: "text",
  resource_type: "text",
  resource_id: "uuid",
  resource_path: "text",
  end_time: "timestamptz",
  before: "jsonb",
  after: "jsonb",
  container_id: "uuid",
  delegate_id: "uuid",
  delegation_id: "uuid",
  source: "text",
  source_id: "uuid",
  timeline: "int",
  chain_start: "uuid",
  hash: "bytea",
  salt: "bytea",
};

const columns = Object.keys(columnTypes) as (keyof Entry)[];

/** The format of the entries that this version writes. */
const entryFormat = 4;

/** From this number on, entries are sent as arrays, and what their rows have in common once. Write groups have fewer. */
const many = 50;

/** A revision of an org, and the end of the chain of its log. */
export interface ChainedRevision extends TimedRevision {
  readonly chain: ChainEnd | undefined;
}

/** Returns the entries of a revision, in no chain yet. */
export function entriesOf(
  { org, revision, time, timeline }: TimedRevision,
  { actorOrgId, actorId, narrowing, method, origin }: Author,
  changes: readonly Change[],
): Entry[] {
  return changes.map((change, position) => ({
    customer_id: org.customer_id,
    org_id: org.id,
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
    container_id: change.containerId,
    delegate_id: null,
    delegation_id: null,
    source: actorId === null ? "SERVICE" : "CALL",
    source_id: null,
    timeline: timeline ?? null,
    chain_start: null,
    hash: null,
    salt: null,
  }));
}

/**
 * Appends entries to the change log of an org with the next statement, and makes the last revision its head, if its head is still the one
 * that was read under the lock. If it is not, the lock was lost, and the transaction fails with an error that `isRetryable` recognises.
 *
 * @param readHead the revision that was read under the lock.
 */
export function appendEntries(
  db: WriteTransaction,
  { org, revision, time, chain }: ChainedRevision,
  entries: readonly Entry[],
  readHead: string,
): void {
  const head = [revision, time, ...valuesOfChain(chain), org.customer_id, org.id, readHead] as const;
  const holder = holderOf(org);
  const ofMany = entries.length < many ? undefined : insertOfMany(entries, ofHead);
  if (ofMany !== undefined) {
    db.sendWithNext(sql`with ${headOf(holder, head)} ${ofMany}`.compile(db));
    return;
  }
  const { few, any } = appends[holder];
  const ofFew = few[entries.length - 1];
  const values = ofFew === undefined ? Object.values(splitShared(entries)) : entries.flatMap(valuesOf);
  db.sendWithNext((ofFew ?? any)(db, [...head, ...values]));
}

/** Lets those who follow an org, or the log of a customer, learn of entries when the transaction has committed them. */
export function noteAppended(db: WriteTransaction, org: LockedOrgRow, entries: readonly Entry[]): void {
  const { is_watched, has_webhooks, has_event_streams } = org;
  const followed = { is_watched, has_webhooks, has_event_streams };
  db.noteWritten({ orgId: org.id, before: org.revision, entries, lockedAt: performance.now(), ...followed });
}

/** Inserts entries for an org or a customer that was just created with their revision. */
export async function insertEntries(
  db: WriteTransaction,
  entries: readonly Entry[],
  head?: Omit<ChainedRevision, "time">,
): Promise<void> {
  const { shared, own } = splitShared(entries);
  await ((entries.length < many ? undefined : insertOfMany(entries)) ?? insertOf(selectOf(shared, own))).execute(db);
  if (head?.chain === undefined) return;
  const [start, hash] = valuesOfChain(head.chain);
  db.sendWithNext(
    sql`
      update ${sql.raw(holderOf(head.org))}
      set chain_revision = ${head.revision}, chain_start = ${start}, chain_hash = ${hash}
      where ${isHolder(holderOf(head.org), head.org.customer_id, head.org.id)}`.compile(db),
  );
}

function valuesOfChain(chain: ChainEnd | undefined): readonly [start: string | null, hash: string | null] {
  return chain === undefined ? [null, null] : [chain.start, bytes(chain.hash)];
}

/** The org or customer of the head that was set; null if it was not, which no entry may have, so that the statement fails. */
const ofHead = sql`(select id from head)`;

/** The table with the heads of logs. */
type LogHolder = "orgs" | "customers";

const holderOf = (key: OrgKey): LogHolder => (isLogOfCustomer(key) ? "customers" : "orgs");

function isHolder(holder: LogHolder, customerId: unknown, id: unknown): RawBuilder<SqlBool> {
  return holder === "orgs"
    ? sql<SqlBool>`customer_id = ${customerId} and id = ${id}`
    : sql<SqlBool>`id = ${customerId} and id = ${id}`;
}

/** The number of values of `headOf`. */
const headValues = 7;

/** The statements that append entries. */
const appends = { orgs: createAppends("orgs"), customers: createAppends("customers") };

function createAppends(holder: LogHolder) {
  return {
    /**
     * Appends one entry, or two: most writes have no more. Their values take PostgreSQL less time than JSON, of which it makes rows
     * first.
     */
    few: [1, 2].map((count) => createAppend(holder, count * columns.length, (values) => valuesOfRows(values, count))),
    /** Appends any number of entries. */
    any: createAppend(holder, 2, ([shared, own]) => selectOf(shared, own, ofHead)),
  };
}

function valuesOfRows(values: readonly unknown[], count: number): RawBuilder<unknown> {
  const rows = Array.from({ length: count }, (_, row) =>
    columns.map((column, index) => {
      if (column === "org_id") return ofHead;
      return sql`${values[row * columns.length + index]}::${sql.raw(columnTypes[column])}`;
    }),
  );
  return sql`values ${sql.join(rows.map((row) => sql`(${sql.join(row)})`))}`;
}

/** @param rowsOf returns the rows to insert. */
function createAppend(
  holder: LogHolder,
  count: number,
  rowsOf: (values: readonly unknown[]) => RawBuilder<unknown>,
): StatementTemplate<unknown> {
  return createStatementTemplate(headValues + count, (db, values) =>
    sql`
      with ${headOf(holder, values)}
      ${insertOf(rowsOf(values.slice(headValues)))}`.compile(db),
  );
}

function headOf(holder: LogHolder, values: readonly unknown[]): RawBuilder<unknown> {
  const [revision, time, chainStart, chainHash, customerId, orgId, readHead] = values;
  return sql`head as (
    update ${sql.raw(holder)} set revision = ${revision}, revision_time = ${time},
      chain_revision = ${revision}, chain_start = ${chainStart}, chain_hash = ${chainHash}
    where ${isHolder(holder, customerId, orgId)} and revision = ${readHead} returning id
  )`;
}

function insertOf(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into changes (${names}) ${rows}`;
}

const names = sql.join(columns.map((column) => sql.ref(column)));

/** @param orgId undefined if the entries have it. */
function selectOf(shared: unknown, own: unknown, orgId?: RawBuilder<unknown>): RawBuilder<unknown> {
  const selected = columns.map((column) => (column === "org_id" ? orgId : undefined) ?? sql.ref(column));
  return sql`
    select ${sql.join(selected)} from json_populate_recordset(json_populate_record(null::changes, ${shared}), ${own})`;
}

/** Returns the values of the columns, in their order. */
function valuesOf(entry: Entry): unknown[] {
  return columns.map((column) => {
    const value = entry[column];
    return columnTypes[column] === "jsonb" && value !== null ? JSON.stringify(value) : value;
  });
}

/**
 * Returns undefined if the rows cannot be sent as arrays.
 *
 * @param orgId undefined if the entries have it.
 */
function insertOfMany(entries: readonly Entry[], orgId?: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  const [before, after] = [
    splitCommon(entries.map((entry) => entry.before)),
    splitCommon(entries.map((entry) => entry.after)),
  ];
  const rows = entries.map((entry, index) => ({ ...entry, before: before.own[index], after: after.own[index] }));
  const added = (common: string) => (own: RawBuilder<unknown>) => sql`${common}::jsonb || ${own}`;
  const selected = selectRows("changes", rows, {
    before: added(before.common),
    after: added(after.common),
    org_id: (own) => orgId ?? own,
  });
  if (selected === undefined) return undefined;
  return sql`insert into changes (${sql.join(selected.columns.map((column) => sql.ref(column)))}) ${selected.select}`;
}

/** Returns what several entries have in common, and the rest of each, as JSON. Most of an entry is about the call. */
function splitShared(entries: readonly Entry[]): { readonly shared: string; readonly own: string } {
  const [first, ...others] = entries;
  if (first === undefined || others.length === 0) return { shared: "{}", own: JSON.stringify(entries) };
  const isShared = (name: keyof Entry): boolean => others.every((entry) => entry[name] === first[name]);
  const { shared = [], own = [] } = Object.groupBy(columns, (name) => (isShared(name) ? "shared" : "own"));
  const pick = (entry: Entry, some: readonly (keyof Entry)[]) =>
    Object.fromEntries(some.map((name) => [name, entry[name]]));
  return { shared: JSON.stringify(pick(first, shared)), own: JSON.stringify(entries.map((entry) => pick(entry, own))) };
}
