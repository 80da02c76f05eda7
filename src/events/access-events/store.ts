import { type RawBuilder, type Selectable, type SqlBool, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import type { AccessEvents } from "../../database/log-tables.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";

/** How long sign-ins and refused calls are kept, in days. */
export const keptDays = 90;

/** A line, with the names that are shown of it as they are now. */
export interface AccessEventRow extends Selectable<AccessEvents> {
  /** With microseconds. */
  readonly time_text: string;
  readonly org_name: string;
  readonly org_delete_time: Date | null;
  /** Null for a member of another org. */
  readonly actor_name: string | null;
  readonly actor_delete_time: Date | null;
  readonly impersonator_name: string | null;
  readonly impersonator_delete_time: Date | null;
}

export interface AccessEventPage {
  readonly orgId: string;
  readonly condition: RawBuilder<SqlBool>;
  readonly descending: boolean;
  /** The time and id of the last line of the page before. */
  readonly after: Cursor | undefined;
  readonly limit: number;
}

export const cursorOf = (row: AccessEventRow): Cursor => [row.time_text, row.id];

/** Selects a page of the log of an org, which an index has in the order of the times. What is older than is kept is not shown. */
export function selectAccessEvents(page: AccessEventPage): RawBuilder<AccessEventRow> {
  const { orgId, condition, descending, after, limit } = page;
  const [time, id] = after ?? [];
  const [direction, comparator] = descending ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(access_events.time, access_events.id) ${comparator} (${time}::timestamptz, ${id}::uuid)`;
  return sql<AccessEventRow>`
    select page.*, orgs.name as org_name, orgs.delete_time as org_delete_time,
      actors.name as actor_name, actors.delete_time as actor_delete_time,
      impersonators.name as impersonator_name, impersonators.delete_time as impersonator_delete_time
    from (
      select access_events.*, ${timeText(sql`access_events.time`)} as time_text
      from access_events
      where access_events.org_id = ${orgId} and ${condition} and ${isAfter}
        and access_events.time > now() - make_interval(days => ${keptDays})
      order by access_events.time ${direction}, access_events.id ${direction} limit ${limit}
    ) as page
    join orgs on orgs.customer_id = page.customer_id and orgs.id = page.org_id
    left join members as actors
      on actors.customer_id = page.customer_id and actors.org_id = page.org_id and actors.id = page.actor_id and page.actor_org_id = page.org_id
    left join members as impersonators
      on impersonators.customer_id = page.customer_id and impersonators.org_id = page.org_id
        and impersonators.id = page.impersonator_id and page.actor_org_id = page.org_id
    order by page.time ${direction}, page.id ${direction}`;
}
