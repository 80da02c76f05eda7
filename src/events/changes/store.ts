// The statements that read a page of a log. Each costs what the page costs: an index has the changes of an org, those of an actor, of a
// resource and of what contains it, of a customer and of the platform, in the order of their times. Only what an actor did in a customer is
// looked for in each of its orgs.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { StoredEntry } from "../../changes/entry-proof.ts";
import { entryTime } from "../../changes/entry-proof.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { changeType } from "./fields.ts";

/** Whose log is read, by ids. */
export type LogOwner =
  | { readonly kind: "org"; readonly id: string }
  /** Its changes are in the log of the org `system`. */
  | { readonly kind: "customer"; readonly id: string; readonly systemOrgId: string }
  | { readonly kind: "platform" };

/** What all entries that match a condition have in common, for which there is an index. */
export interface Pinned {
  /** The org in whose log they are. */
  readonly orgId: string | undefined;
  /** Whether they have the same actor. */
  readonly actor: boolean;
}

export interface LogPage {
  readonly owner: LogOwner;
  readonly condition: RawBuilder<SqlBool>;
  readonly descending: boolean;
  /** The time, org, revision and position of the last entry of the page before. */
  readonly after: Cursor | undefined;
  readonly limit: number;
  /** Whether what is in suspended orgs is shown. */
  readonly suspended: boolean;
  /** What all entries have in common that match the condition. */
  readonly pinned: Pinned;
}

/** An entry, with the names that are shown of it as they are now. */
export interface ChangeRow extends StoredEntry {
  readonly time: Date;
  readonly type: "CREATED" | "UPDATED" | "DELETED" | "EXPIRED" | "READ";
  /** Of the org of the log. */
  readonly org_name: string | null;
  readonly org_delete_time: Date | null;
  /** Null for a member of another org. */
  readonly actor_name: string | null;
  readonly actor_delete_time: Date | null;
  readonly impersonator_name: string | null;
  readonly impersonator_delete_time: Date | null;
}

/** The columns of an entry that messages and proofs need. */
const columns = (
  "org_id revision position time format actor_org_id actor_id impersonator_id credential_id on_behalf_of method request_id " +
  "remote_address user_agent reason resource_type resource_id resource_path end_time before after chain_start hash salt erased " +
  "delegate_id delegation_id source source_id timeline container_id"
).split(" ");

const keys = ["time", "org_id", "revision", "position"];

export const cursorOf = (row: ChangeRow): Cursor => [row.time_text, row.org_id, row.revision, String(row.position)];

export function selectChanges(page: LogPage): RawBuilder<ChangeRow> {
  return sql<ChangeRow>`
    select page.*, log_orgs.name as org_name, log_orgs.delete_time as org_delete_time,
      actors.name as actor_name, actors.delete_time as actor_delete_time,
      impersonators.name as impersonator_name, impersonators.delete_time as impersonator_delete_time
    from (${selectPage(page)}) as page
    left join lateral (
      select name, delete_time from orgs where orgs.id = page.org_id limit 1
    ) as log_orgs on true
    left join lateral (
      select name, delete_time from members
      where members.org_id = page.org_id and members.id = page.actor_id and page.actor_org_id = page.org_id limit 1
    ) as actors on true
    left join lateral (
      select name, delete_time from members
      where members.org_id = page.org_id and members.id = page.impersonator_id and page.actor_org_id = page.org_id limit 1
    ) as impersonators on true
    order by ${orderOf("page", page)}`;
}

function selectPage(page: LogPage): RawBuilder<unknown> {
  const { owner, suspended } = page;
  const limit = sql`limit ${page.limit}`;
  switch (owner.kind) {
    case "org":
      return entries(page, sql<SqlBool>`changes.org_id = ${owner.id}`);
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
          ? sql<SqlBool>`true`
          : sql<SqlBool>`exists (select from orgs where orgs.id = changes.org_id and orgs.state = 'ACTIVE')`,
      );
  }
}

/**
 * Returns the first entries of the orgs of a customer. They are in one index in the order of their times; those of one actor, or of one org, are
 * in that of each org.
 */
function entriesOfOrgs(page: LogPage, customerId: string): RawBuilder<unknown> {
  const { suspended, pinned } = page;
  if (pinned.orgId === undefined && !pinned.actor) {
    // Not as a join, for which all entries could be sorted.
    const state = sql`(select state from orgs where orgs.id = changes.org_id)`;
    return entries(page, sql<SqlBool>`changes.customer_id = ${customerId} and (${suspended} or ${state} = 'ACTIVE')`);
  }
  const isPinned = pinned.orgId === undefined ? sql`true` : sql`id = ${pinned.orgId}`;
  return sql`
    with logs as materialized (
      select id from orgs where customer_id = ${customerId} and ${isPinned} and (${suspended} or state = 'ACTIVE')
    )
    select found.* from logs cross join lateral (${entries(page, sql<SqlBool>`changes.org_id = logs.id`)}) as found
    order by ${orderOf("found", page)} limit ${page.limit}`;
}

/** Returns the first entries after the cursor that match. */
function entries(page: LogPage, where: RawBuilder<SqlBool>): RawBuilder<unknown> {
  const { condition, after, descending, limit } = page;
  const [time, org, revision, position] = after ?? [];
  const comparator = sql.raw(descending ? "<" : ">");
  const isAfter =
    after === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`(changes.time, changes.org_id, changes.revision, changes.position)
          ${comparator} (${time}::timestamptz, ${org}::uuid, ${revision}::uuid, ${position}::int)`;
  const selected = columns.map((column) => sql.ref(`changes.${column}`));
  return sql`
    select ${sql.join(selected)}, ${entryTime} as time_text, ${changeType} as type
    from changes where ${where} and ${condition} and ${isAfter} and ${sql.raw(isInThePast)}
    order by ${orderOf("changes", page)} limit ${limit}`;
}

function orderOf(table: string, { descending }: Pick<LogPage, "descending">): RawBuilder<unknown> {
  return sql.join(keys.map((key) => sql`${sql.ref(`${table}.${key}`)} ${sql.raw(descending ? "desc" : "asc")}`));
}
