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

/**
 * Selects them in the order of the groups and steps.
 *
 * @param systemOrgId the org in whose log the removals of types are.
 */
export function selectUsage(
  scope: UsageScope,
  { start, end, step, steps }: Period,
  dimensions: Dimensions,
  systemOrgId: string,
): RawBuilder<UsageRow> {
  const since = sql`${formatMicroseconds(start)}::timestamptz`;
  const keys = sql`org_id, project_id, service_id, type_id, kind`;
  // Changes of one moment are peers, so that each has the sum after all of them.
  return sql<UsageRow>`
    with amounts as (
      ${selectAmountsOfNow(scope, dimensions)}
      union all
      ${selectChanges(scope, dimensions, since, systemOrgId)}
    ),
    running as (
      select ${keys}, at - ${start}::bigint as passed, amount, sum(amount) over (partition by ${keys} order by at) as reached,
        case
          when at is null then -1
          when at > ${end}::bigint then ${steps}::int
          else ((at - ${start}::bigint - 1) / ${step}::bigint)::int
        end as step
      from amounts
    )
    select ${keys}, step, sum(amount)::text as change, coalesce(sum(amount * passed), 0)::text as moment, max(reached)::text as highest
    from running group by ${keys}, step order by ${keys}, step`;
}

function selectAmountsOfNow(
  { kind, id, customerId, orgId }: UsageScope,
  { org, project, service, type }: Dimensions,
): RawBuilder<unknown> {
  return sql`
    select org_id, project_id, service_id, type_id, kind, null::bigint as at, sum((given ->> kind)::numeric) as amount
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

function selectChanges(
  { kind, id, customerId, orgId }: UsageScope,
  { org, project, service, type }: Dimensions,
  since: RawBuilder<unknown>,
  systemOrgId: string,
): RawBuilder<unknown> {
  const given = (row: "before" | "after") => sql`coalesce(${sql.ref(row)} -> 'given_quantities', '{}')`;
  const ofRow = (column: string) => sql`(coalesce(after, before) ->> ${sql.lit(column)})::uuid`;
  const types = sql`
    left join (
      select id, service_id from resource_types
      union all
      ${selectRemovedTypes(systemOrgId, since)}
    ) as types on types.id = ${ofRow("type_id")}`;
  return sql`
    select org_id, project_id, service_id, type_id, kind, at,
      coalesce((given ->> kind)::numeric, 0) - coalesce((had ->> kind)::numeric, 0)
    from (
      select ${idIf(org || project, sql`changes.org_id`)} as org_id, ${idIf(project, ofRow("project_id"))} as project_id,
        ${idIf(service || type, sql`types.service_id`)} as service_id, ${idIf(type, ofRow("type_id"))} as type_id,
        (extract(epoch from time) * 1000000)::bigint as at, ${given("after")} as given, ${given("before")} as had,
        jsonb_object_keys(${given("before")} || ${given("after")}) collate "C" as kind
      from changes ${service || type ? types : sql``}
      where customer_id = ${customerId} ${orgId === null ? sql`` : sql`and org_id = ${orgId}`}
        and resource_type = 'Resource' and time > ${since} and ${sql.raw(isInThePast)}
        and org_id <> all (array(${selectOrgsInPurge(customerId)}))
        and ${given("after")} <> ${given("before")}
        ${kind === "project" ? sql`and ${ofRow("project_id")} = ${id}` : sql``}
    ) as entries
    where coalesce((given ->> kind)::numeric, 0) <> coalesce((had ->> kind)::numeric, 0)`;
}

/** Selects the orgs whose log is being removed, in any order: what is left of it does not add up. */
function selectOrgsInPurge(customerId: string): RawBuilder<unknown> {
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
