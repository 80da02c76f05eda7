// The tables of an org as they were, for statements that read resources.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { OrgBase } from "../../access/snapshots/past-base.ts";
import { isGone } from "../../access/snapshots/past-removals.ts";
import { referredTypes } from "../../access/snapshots/past-tables.ts";
import type { Moment } from "../../changes/past/find-moment.ts";
import { selectPastTable } from "../../changes/past/read-past-rows.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../definition/definition.ts";
import type { ResourceRegistry } from "../definition/registry.ts";

/** What can be read as it was. What the others refer to comes first. */
export const pastTypes: readonly ResourceType[] = [...referredTypes, "GroupMember", "Subgroup", "RoleBinding"];

/** The ids of the projects that are suspended now, in a statement of `asOfMoment`. */
export const suspendedNow = sql.table("suspended_now");

/**
 * Returns a statement that is answered as of a moment: under the names of the tables, it finds their rows of then. `orgs` is as it is now.
 * What is purged, and of which the log has not all that referred to it, is left out, with what referred to it.
 */
export function asOfMoment<Row>(
  registry: Pick<ResourceRegistry, "definitionOf">,
  org: OrgKey,
  moment: Moment,
  base: OrgBase,
  statement: RawBuilder<Row>,
): RawBuilder<Row> {
  const tables = pastTypes.map((type) => {
    const definition = registry.definitionOf(type);
    const { table } = definition.storage;
    // Not computed as a whole: a list of one group needs the members of that group.
    return sql`${sql.table(table)} as not materialized (${pastTable(registry, definition, org, moment, base)})`;
  });
  return sql<Row>`
    with ${suspendedNow} as (select id from projects where ${isInOrgOf("projects", org)} and state <> 'ACTIVE'),
    ${sql.join(tables)}
    ${statement}`;
}

function pastTable(
  registry: Pick<ResourceRegistry, "definitionOf">,
  { type, storage }: ResourceDefinition,
  org: OrgKey,
  moment: Moment,
  base: OrgBase,
): RawBuilder<unknown> {
  const { hasRemovals, isCut } = base;
  const isReferred = referredTypes.some((each) => each === type);
  const references = storage.references.filter(({ to }) => referredTypes.some((each) => each === to));
  const isShown: RawBuilder<SqlBool>[] = [];
  if (isReferred && isCut) isShown.push(sql`not ${isGone(org, moment, sql.ref("was.id"))}`);
  // Rows that were removed with others before are in the log, too. What they referred to was not there any more.
  if (!isReferred && hasRemovals)
    isShown.push(...references.map(({ column, to }) => refersTo(registry, org, column, to)));
  const logged = {
    type,
    table: storage.table,
    key: storage.key.filter((column) => column !== "org_id"),
    isRemovedWithOthers: !isReferred,
    isShown: isShown.length === 0 ? undefined : sql<SqlBool>`${sql.join(isShown, sql` and `)}`,
  };
  return selectPastTable(org, moment, logged, base);
}

/** The condition that what a row from the log refers to was there then. */
function refersTo(
  registry: Pick<ResourceRegistry, "definitionOf">,
  org: OrgKey,
  column: string,
  to: ResourceType,
): RawBuilder<SqlBool> {
  const { table } = registry.definitionOf(to).storage;
  const own = sql.ref(`was.${column}`);
  const isIt = sql`${isInOrgOf(table, org)} and ${sql.ref(`${table}.id`)} = ${own}`;
  return sql<SqlBool>`(${own} is null or exists (select from ${sql.table(table)} where ${isIt}))`;
}
