// Reads what resources consumed: what they have been given, by time. The amounts of now are in the rows of the resources, and each change of
// them is in the log, whose entries have the row before and after. So what was at a time is what is now without what has changed since,
// which is right after the log was cut, and costs what has changed since. PostgreSQL sums up, with exact decimals.
import { type RawBuilder, sql } from "kysely";
import { formatMicroseconds } from "../../changes/revision-time.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { LevelRow } from "../../quotas/levels.ts";
import type { Period } from "./period.ts";

/** The customer, org or project whose resources are meant. */
export type UsageScope = Pick<LevelRow, "kind" | "id" | "customerId" | "orgId">;

/** What amounts are divided by, besides their kind. A project leads to its org, and a type to its service. */
export interface Dimensions {
  readonly org: boolean;
  readonly project: boolean;
  readonly service: boolean;
  readonly type: boolean;
}

/** The amounts of one kind in one group. */
export interface GroupKey {
  /** Null where amounts are not divided by it; the service also if nothing is known of the type any more. */
  readonly org_id: string | null;
  readonly project_id: string | null;
  readonly service_id: string | null;
  readonly type_id: string | null;
  readonly kind: string;
}

/** What happened to the amount of a group in one step. Numbers are exact decimals. */
export interface UsageRow extends GroupKey {
  /** From 0; -1 has the amount of now as its `change`, and the number of steps has what came after the last one. */
  readonly step: number;
  /** The sum of the changes. */
  readonly change: string;
  /** The sum of the changes, each times the microseconds from the start of the period to it. */
  readonly moment: string;
  /** The greatest sum of all changes since the start of the period up to one in the step. */
  readonly highest: string;
}

/** Part of the time of the log, in microseconds: after `begins`, until `ends`. */
export interface LogRange {
  readonly begins: number;
  readonly ends: number;
}

/** The columns of a group. */
export const groupKeys = sql`org_id, project_id, service_id, type_id, kind`;

/**
 * Selects the rows of a period in the order of the groups and steps.
 *
 * @param amounts selects the changes of groups, with `at`, when they were, their `amount` and their `moment` since the start of the period. One that
 * sums up several is at the end of these, and has the greatest sum of them as `top`. The amounts after all changes are at null.
 */
export function selectSteps({ start, end, step, steps }: Period, amounts: RawBuilder<unknown>): RawBuilder<UsageRow> {
  // Changes of one moment are peers, so that each has the sum after all of them.
  return sql<UsageRow>`
    with amounts as (${amounts}),
    running as (
      select ${groupKeys}, moment, amount, top, sum(amount) over (partition by ${groupKeys} order by at) as reached,
        case
          when at is null then -1
          when at > ${end}::bigint then ${steps}::int
          else ((at - ${start}::bigint - 1) / ${step}::bigint)::int
        end as step
      from amounts
    )
    select ${groupKeys}, step, sum(amount)::text as change, coalesce(sum(moment), 0)::text as moment,
      max(coalesce(reached - amount + top, reached))::text as highest
    from running group by ${groupKeys}, step order by ${groupKeys}, step`;
}

/**
 * Selects the rows of a period from what is there now, and what has changed since the period began.
 *
 * @param systemOrgId the org in whose log the removals of types are.
 */
export function selectUsage(
  scope: UsageScope,
  period: Period,
  dimensions: Dimensions,
  systemOrgId: string,
): RawBuilder<UsageRow> {
  const { start } = period;
  const since = { begins: start, ends: Infinity };
  return selectSteps(
    period,
    sql`
      select ${groupKeys}, null::bigint as at, amount, null::numeric as moment, null::numeric as top
      from (${selectAmountsOfNow(scope, dimensions)}) as of_now
      union all
      select ${groupKeys}, at, amount, amount * (at - ${start}::bigint), null
      from (${selectChanges(scope, dimensions, [since], systemOrgId)}) as changed`,
  );
}

export function selectAmountsOfNow(
  { kind, id, customerId, orgId }: UsageScope,
  { org, project, service, type }: Dimensions,
): RawBuilder<unknown> {
  return sql`
    select ${groupKeys}, sum((given ->> kind)::numeric) as amount
    from (
      select ${idIf(org || project, sql`resources.org_id`)} as org_id, ${idIf(project, sql`resources.project_id`)} as project_id,
        ${idIf(service || type, sql`resource_types.service_id`)} as service_id, ${idIf(type, sql`resources.type_id`)} as type_id,
        given_quantities as given, jsonb_object_keys(given_quantities) collate "C" as kind
      from orgs
      join resources on resources.customer_id = orgs.customer_id and resources.org_id = orgs.id
      ${service || type ? sql`join resource_types on resource_types.id = resources.type_id` : sql``}
      where orgs.customer_id = ${customerId} ${orgId === null ? sql`` : sql`and orgs.id = ${orgId}`}
        ${kind === "project" ? sql`and resources.project_id = ${id}` : sql``}
    ) as of_now
    group by 1, 2, 3, 4, 5`;
}

/** Selects what the log has of changes in one of these ranges, of which there is at least one, the earliest first. */
export function selectChanges(
  { kind, id, customerId, orgId }: UsageScope,
  { org, project, service, type }: Dimensions,
  ranges: readonly LogRange[],
  systemOrgId: string,
): RawBuilder<unknown> {
  const [begins, ends] = [ranges.map((range) => timeOf(range.begins)), ranges.map((range) => timeOf(range.ends))];
  const since = sql`${begins[0]}::timestamptz`;
  const given = (row: "before" | "after") => sql`coalesce(${sql.ref(row)} -> 'given_quantities', '{}')`;
  const ofRow = (column: string) => sql`(coalesce(after, before) ->> ${sql.lit(column)})::uuid`;
  const types = sql`
    left join resource_types on resource_types.id = ${ofRow("type_id")}
    left join removed on removed.id = ${ofRow("type_id")}`;
  const withRemoved = sql`with removed as materialized (${selectRemovedTypes(systemOrgId, since)})`;
  // Each range is read by itself, from the index by time.
  return sql`
    select ${groupKeys}, at, coalesce((given ->> kind)::numeric, 0) - coalesce((had ->> kind)::numeric, 0) as amount
    from (
      ${service || type ? withRemoved : sql``}
      select ${idIf(org || project, sql`changes.org_id`)} as org_id, ${idIf(project, ofRow("project_id"))} as project_id,
        ${idIf(service || type, sql`coalesce(resource_types.service_id, removed.service_id)`)} as service_id, ${idIf(type, ofRow("type_id"))} as type_id,
        (extract(epoch from time) * 1000000)::bigint as at, ${given("after")} as given, ${given("before")} as had,
        jsonb_object_keys(${given("before")} || ${given("after")}) collate "C" as kind
      from unnest(${begins}::timestamptz[], ${ends}::timestamptz[]) as ranges (begins, ends)
      cross join lateral (
        select org_id, time, before, after from changes
        where customer_id = ${customerId} ${orgId === null ? sql`` : sql`and org_id = ${orgId}`}
          and resource_type = 'Resource' and time > ranges.begins and time <= ranges.ends
          and time > ${since} and ${sql.raw(isInThePast)}
          and org_id <> all (array(${selectOrgsInPurge(customerId)}))
          and ${given("after")} <> ${given("before")}
          ${kind === "project" ? sql`and ${ofRow("project_id")} = ${id}` : sql``}
        offset 0
      ) as changes
      ${service || type ? types : sql``}
    ) as entries
    where coalesce((given ->> kind)::numeric, 0) <> coalesce((had ->> kind)::numeric, 0)`;
}

const timeOf = (microseconds: number): string =>
  microseconds === Infinity ? "infinity" : formatMicroseconds(microseconds);

/** Selects the orgs whose log is being removed, in any order: what is left of it does not add up. */
export function selectOrgsInPurge(customerId: string): RawBuilder<unknown> {
  return sql`
    select id from orgs where customer_id = ${customerId} and purge_time <= clock_timestamp()
      and not exists (select from resources where resources.customer_id = orgs.customer_id and resources.org_id = orgs.id)`;
}

function idIf(isMeant: boolean, column: RawBuilder<unknown>): RawBuilder<unknown> {
  return isMeant ? column : sql`null::uuid`;
}

/** Selects the types that were removed since a time: those of resources that are removed as well. */
function selectRemovedTypes(systemOrgId: string, since: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select resource_id as id, (before ->> 'service_id')::uuid as service_id from changes
    where org_id = ${systemOrgId} and resource_type = 'ResourceType' and after is null and time > ${since}
      and ${sql.raw(isInThePast)}`;
}
