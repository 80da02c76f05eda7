import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { OrgSet, Visibility } from "../../access/evaluation/visibility.ts";
import { isGuardedCustomer } from "../../database/support-required.ts";
import { type PathLevel, customerLevel, projectLevel } from "../../database/match-reference.ts";

/**
 * Returns the condition that a read shows a row; undefined if it shows all. Every query of what is in orgs joins the orgs of its
 * rows.
 *
 * @param containers the levels of the path that contain the row, from the top.
 */
export function visibilityCondition(
  { orgs, suspendedOrgs, suspendedProjects, hidesGuarded }: Visibility,
  containers: readonly PathLevel[],
): RawBuilder<SqlBool> | undefined {
  const conditions: RawBuilder<SqlBool>[] = [];
  if (orgs !== "all") conditions.push(isIn(orgs));
  if (suspendedOrgs !== "all") conditions.push(sql`(orgs.state = 'ACTIVE' or ${isIn(suspendedOrgs)})`);
  const isInProject = containers.some(({ alias }) => alias === projectLevel.alias);
  if (isInProject && suspendedProjects !== "all") {
    conditions.push(sql`(projects.state = 'ACTIVE' or ${isIn(suspendedProjects)})`);
  }
  if (hidesGuarded === true) {
    const isInCustomer = containers.some(({ alias }) => alias === customerLevel.alias);
    conditions.push(sql`not ${isGuardedCustomer(sql.ref(isInCustomer ? "customers.id" : "orgs.customer_id"))}`);
  }
  return conditions.length === 0 ? undefined : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

function isIn({ orgIds, customerIds }: Exclude<OrgSet, "all">): RawBuilder<SqlBool> {
  return sql`(orgs.id = any (${orgIds}::uuid[]) or orgs.customer_id = any (${customerIds}::uuid[]))`;
}
