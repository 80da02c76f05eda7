// The statements that read a page of a log. Each costs what the page costs: an index has the changes of an org, those of an actor, of a
// resource and of what contains it, of a customer and of the platform, in the order of their times. Only what an actor did in a customer is
// looked for in each of its orgs.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { endOfNext } from "../../changes/revision.ts";
import type { StoredEntry } from "../../changes/entry-proof.ts";
import { entryTime } from "../../changes/entry-proof.ts";
import { isGuardedCustomer } from "../../database/support-required.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { changeType } from "./fields.ts";
import type { LogOwner, Pinned } from "./log-owner.ts";

export interface LogPage {
  readonly owner: LogOwner;
  readonly condition: RawBuilder<SqlBool>;
  readonly descending: boolean;
  /** The time, org, revision and position of the last entry of the page before. */
  readonly after: Cursor | undefined;
  /** The same of the last entry that is read; all if it is undefined. */
  readonly until?: Cursor | undefined;
  readonly limit: number;
  /** Whether what is in suspended orgs is shown. */
  readonly suspended: boolean;
  /** Whether the rows before and after are read. */
  readonly states: boolean;
  /** What all entries have in common that match the condition. */
  readonly pinned: Pinned;
}

/** An entry, with the names that are shown of it as they are now. */
export interface ChangeRow extends StoredEntry {
  readonly time: Date;
  readonly type: "CREATED" | "UPDATED" | "DELETED" | "EXPIRED" | "READ" | "ERASED";
  /** Of the org or the customer of the log. */
  readonly org_name: string | null;
  readonly org_delete_time: Date | null;
  /** Null for a member of another org. */
  readonly actor_name: string | null;
  readonly actor_delete_time: Date | null;
  readonly impersonator_name: string | null;
  readonly impersonator_delete_time: Date | null;
  /** Whether it is left to the next page, and read without its rows before and after. */
  readonly is_left_out: boolean;
}

/**
 * How long the rows before and after on a page are, in bytes of JSON. With their messages and proofs, a page has some times as much, and is
 * written in one go. The first entry is on it, however long.
 */
const maxStateBytes = 2_097_152;

/** The columns of an entry that messages and proofs need. */
const columns = (
  "org_id customer_id revision position time format actor_org_id actor_id impersonator_id credential_id on_behalf_of method request_id " +
  "remote_address user_agent reason resource_type resource_id resource_path end_time before after chain_start hash salt erased " +
  "delegate_id delegation_id source source_id timeline container_id"
).split(" ");

const keys = ["time", "org_id", "revision", "position"];

export const cursorOf = (row: ChangeRow): Cursor => [row.time_text, row.org_id, row.revision, String(row.position)];

export function selectChanges(page: LogPage): RawBuilder<ChangeRow> {
  return withNames(selectPage(page), orderOf("page", page), page.states);
}

/**
 * Selects entries with the names that are shown of them.
 *
 * @param order of what is named `page`.
 * @param states whether the rows before and after are read, of as many entries as a page may have.
 */
function withNames(
  entriesOfPage: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  states: boolean,
  maxBytes = maxStateBytes,
): RawBuilder<ChangeRow> {
  return sql<ChangeRow>`
    select ${sql.join(selectedOf("page", states))}, time_text, type, is_left_out,
      log_orgs.name as org_name, log_orgs.delete_time as org_delete_time,
      actors.name as actor_name, actors.delete_time as actor_delete_time,
      impersonators.name as impersonator_name, impersonators.delete_time as impersonator_delete_time
    from (select page.*, ${states ? isLeftOut(order, maxBytes) : sql`false`} as is_left_out from (${entriesOfPage}) as page) as page
    left join lateral (
      select name, delete_time from orgs where orgs.customer_id = page.customer_id and orgs.id = page.org_id
      union all select name, delete_time from customers where customers.id = page.org_id and page.customer_id = page.org_id limit 1
    ) as log_orgs on true
    left join lateral (
      select name, delete_time from members
      where members.org_id = page.org_id and members.id = page.actor_id and page.actor_org_id = page.org_id limit 1
    ) as actors on true
    left join lateral (
      select name, delete_time from members
      where members.org_id = page.org_id and members.id = page.impersonator_id and page.actor_org_id = page.org_id limit 1
    ) as impersonators on true
    order by ${order}`;
}

/** What is read of the log of an org, in the order of its entries. */
export interface EntriesAfter {
  readonly orgId: string;
  readonly revision: string;
  /** A time that is not later than that of the revision. Entries of old versions may be out of the order of their times, by less than an hour. */
  readonly since: Date | string;
  /** The position of the last entry of the revision that was read; undefined if that was all of it. */
  readonly position?: number | undefined;
  readonly limit: number;
  /** How long the rows before and after are, in bytes. */
  readonly maxBytes: number;
}

/**
 * Selects the entries of an org that follow a revision, or one of its entries, after the first entry of that revision itself: if it is not
 * there, nothing says what follows it. That one has no rows before and after.
 */
export function selectEntriesAfter(after: EntriesAfter): RawBuilder<ChangeRow> {
  const { orgId, revision, since, position, limit, maxBytes } = after;
  // The statements are planned without their values. So that they are read in the order of the primary key, and not by their times and sorted,
  // which would be all that follows, the limit is no value, and the revisions have an end: their numbers have no gaps.
  const order = sql`order by revision, position limit ${sql.lit(limit)}`;
  const select = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select ${sql.join(columns.map((column) => columnAfter(column, revision)))}, ${entryTime} as time_text, ${changeType} as type
    from changes
    where org_id = ${orgId}::uuid and ${condition} and revision <= ${endOfNext(revision, limit)}::uuid and time > ${since}::timestamptz - interval '1 hour'
      and ${sql.raw(isInThePast)}`;
  const found =
    position === undefined
      ? sql`${select(sql`revision >= ${revision}::uuid and (revision > ${revision}::uuid or position = 0)`)} ${order}`
      : sql`
        select * from (
          select * from (
            ${select(sql`(revision, position) >= (${revision}::uuid, 0)`)} order by revision, position limit 1
          ) as first where revision = ${revision}::uuid and position = 0
        ) as start union all
        select * from (
          select * from (${select(sql`revision = ${revision}::uuid and position > ${position}::int`)} ${order}) as rest union all
          select * from (${select(sql`revision > ${revision}::uuid`)} ${order}) as later ${order}
        ) as following`;
  return withNames(found, sql`page.revision, page.position`, true, maxBytes);
}

/** Returns a column of what follows a revision. Of the first entry of that, the rows before and after are not read. */
function columnAfter(column: string, revision: string): RawBuilder<unknown> {
  const value = sql.ref(`changes.${column}`);
  if (column !== "before" && column !== "after") return value;
  return sql`case when revision > ${revision}::uuid or position > 0 then ${value} end as ${sql.ref(column)}`;
}

/** Returns the columns of a page. Those before and after are null where they are not read. */
function selectedOf(table: string, states: boolean): RawBuilder<unknown>[] {
  return columns.map((column) => {
    const value = sql.ref(`${table}.${column}`);
    if (column !== "before" && column !== "after") return value;
    return sql`${states ? sql`case when not is_left_out then ${value} end` : sql`null::jsonb`} as ${sql.ref(column)}`;
  });
}

/** Whether the entries before one on the page have enough. */
function isLeftOut(order: RawBuilder<unknown>, maxBytes: number): RawBuilder<unknown> {
  const bytes = sql`coalesce(octet_length(page.before::text), 0) + coalesce(octet_length(page.after::text), 0)`;
  return sql`
    coalesce(sum(${bytes}) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)
      >= ${sql.lit(maxBytes)}`;
}

function selectPage(page: LogPage): RawBuilder<unknown> {
  const { owner, suspended } = page;
  const limit = sql`limit ${page.limit}`;
  switch (owner.kind) {
    case "org":
      return entriesOfLog(page, sql`${owner.id}::uuid`);
    case "customer": {
      const isItself = sql<SqlBool>`changes.org_id = ${owner.systemOrgId} and changes.container_id = ${owner.id}
        and changes.customer_id <> ${owner.id}`;
      return sql`
        select * from (
          (${entriesOfOrgs(page, owner.id)}) union all (${entries(page, isItself)})
        ) as found order by ${orderOf("found", page)} ${limit}`;
    }
    case "platform":
      return entries(
        page,
        suspended
          ? isOpenToPlatform
          : sql<SqlBool>`${isOpenToPlatform} and (changes.org_id = changes.customer_id
              or exists (select from orgs where orgs.customer_id = changes.customer_id and orgs.id = changes.org_id and orgs.state = 'ACTIVE'))`,
      );
  }
}

/** Not of a customer that requires members of the platform to be approved: its logs are read by their paths. */
const isOpenToPlatform = sql<SqlBool>`not ${isGuardedCustomer(sql.ref("changes.customer_id"))}`;

/**
 * Returns the first entries of a customer and its orgs. They are in one index in the order of their times; those of one actor, or of one org,
 * are in that of each log.
 */
function entriesOfOrgs(page: LogPage, customerId: string): RawBuilder<unknown> {
  const { suspended, pinned } = page;
  if (pinned.orgId === undefined && !pinned.actor) {
    // Not as a join, for which all entries could be sorted.
    const state = sql`(select state from orgs where orgs.customer_id = changes.customer_id and orgs.id = changes.org_id)`;
    const isShown = sql`(${suspended} or changes.org_id = changes.customer_id or ${state} = 'ACTIVE')`;
    return entries(page, sql<SqlBool>`changes.customer_id = ${customerId} and ${isShown}`);
  }
  const isPinned = pinned.orgId === undefined ? sql`true` : sql`id = ${pinned.orgId}`;
  return sql`
    with logs as materialized (
      select id from orgs where customer_id = ${customerId} and ${isPinned} and (${suspended} or state = 'ACTIVE')
      union all select id from customers where id = ${customerId} and ${isPinned}
    )
    select found.* from logs cross join lateral (${entriesOfLog(page, sql.ref("logs.id"))}) as found
    order by ${orderOf("found", page)} limit ${page.limit}`;
}

/**
 * Returns the first entries of one log. Those of one actor are in the order of the index of actors, which is that of all logs, but no index of times
 * alone has it: what one actor did would be looked for in everything, where statistics are of logs in which it did more.
 */
function entriesOfLog(page: LogPage, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const { descending, pinned } = page;
  const actor = sql`changes.actor_id ${sql.raw(descending ? "desc" : "asc")}, `;
  const order = sql`${pinned.actor ? actor : sql``}${orderOf("changes", page)}`;
  return entries(page, sql<SqlBool>`changes.org_id = ${id}`, order);
}

/** Returns the first entries after the cursor that match. */
function entries(
  page: LogPage,
  where: RawBuilder<SqlBool>,
  order: RawBuilder<unknown> = orderOf("changes", page),
): RawBuilder<unknown> {
  const { condition, after, until, descending, limit } = page;
  const isAfter = compared(descending ? "<" : ">", after);
  const isBefore = compared(descending ? ">=" : "<=", until);
  const selected = columns.map((column) => sql.ref(`changes.${column}`));
  return sql`
    select ${sql.join(selected)}, ${entryTime} as time_text, ${changeType} as type
    from changes where ${where} and ${condition} and ${isAfter} and ${isBefore} and ${sql.raw(isInThePast)}
    order by ${order} limit ${limit}`;
}

/** Returns how the place of an entry in the order of the lists compares with another one; that it does, if there is none. */
export function compared(comparator: "<" | "<=" | ">" | ">=", cursor: Cursor | undefined): RawBuilder<SqlBool> {
  if (cursor === undefined) return sql<SqlBool>`true`;
  const [time, org, revision, position] = cursor;
  return sql<SqlBool>`(changes.time, changes.org_id, changes.revision, changes.position)
    ${sql.raw(comparator)} (${time}::timestamptz, ${org}::uuid, ${revision}::uuid, ${position}::int)`;
}

function orderOf(table: string, { descending }: Pick<LogPage, "descending">): RawBuilder<unknown> {
  return sql.join(keys.map((key) => sql`${sql.ref(`${table}.${key}`)} ${sql.raw(descending ? "desc" : "asc")}`));
}
