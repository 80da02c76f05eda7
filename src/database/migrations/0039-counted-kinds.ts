import { type Kysely, sql } from "kysely";

/** The lists of variables of a stored operation. */
const lists = ["quantities", "givenQuantities"];

/** Selects the kinds that a ResourceType counts against quotas, as `kind`. */
const countedKinds = `
  select distinct variable ->> 'kind' as kind
  from jsonb_array_elements(resource_types.operations) as operation,
    jsonb_array_elements(coalesce(operation -> '${lists[0]}', '[]') || coalesce(operation -> '${lists[1]}', '[]')) as variable
  where variable -> 'counted' = 'true'`;

/**
 * Lets services count the kinds that they may count, which are those that their types count now, and lets types bound what is given
 * beyond what is wanted. In the types that exist, it is as good as unbounded for what they count, as it was. A server of an earlier version
 * leaves the bounds out of types that it updates, and does not list what types count that it creates: until all servers are upgraded,
 * change no types.
 */
export async function boundWhatCounts(db: Kysely<unknown>): Promise<void> {
  const bounded = lists.map(
    (list) => `
      case when entry ? '${list}' then jsonb_build_object('${list}', (
        select coalesce(jsonb_agg(
          case when quantity ->> 'kind' in (${countedKinds}) then '{"surplus": 1e24}'::jsonb || quantity else quantity end
          order by position), '[]')
        from jsonb_array_elements(entry -> '${list}') with ordinality as each (quantity, position)
      )) else '{}' end`,
  );
  const statements = [
    `alter table services add column counted_kinds text[] not null default '{}'`,
    `update services set counted_kinds = array(
      select distinct kind from resource_types cross join lateral (${countedKinds}) as counted
      where resource_types.service_id = services.id order by kind)`,
    `update resource_types set operations = (
      select coalesce(jsonb_agg(entry || ${bounded.join(" || ")} order by number), '[]')
      from jsonb_array_elements(resource_types.operations) with ordinality as every (entry, number))
    where exists (${countedKinds})`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
