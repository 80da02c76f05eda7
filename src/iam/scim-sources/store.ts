import { type InferResult, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";

export type ScimSourceRow = InferResult<ReturnType<typeof selectScimSources>>[number];

export const scimSourceColumns = ["org_id", "member_id", "provider_id", "subject", ...namedColumns] as const;

/** Selects all SCIM sources, with the columns that paths need. */
export function selectScimSources(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("scim_sources", (join) =>
      join.onRef("scim_sources.customer_id", "=", "orgs.customer_id").onRef("scim_sources.org_id", "=", "orgs.id"),
    )
    .leftJoin("members", (join) =>
      join
        .onRef("members.customer_id", "=", "scim_sources.customer_id")
        .onRef("members.org_id", "=", "scim_sources.org_id")
        .onRef("members.id", "=", "scim_sources.member_id"),
    )
    .leftJoin("identity_providers", (join) =>
      join
        .onRef("identity_providers.customer_id", "=", "scim_sources.customer_id")
        .onRef("identity_providers.org_id", "=", "scim_sources.org_id")
        .onRef("identity_providers.id", "=", "scim_sources.provider_id"),
    )
    .select(columnsOf("scim_sources", scimSourceColumns))
    .select([...pathColumns.org, ...pathColumns.member, "identity_providers.name as provider_name"]);
}

/** Forgets which groups of an org sources manage. */
export async function removeScimGroups(db: Kysely<Schema>, org: OrgKey, which: RawBuilder<unknown>): Promise<void> {
  const inOrg = sql<SqlBool>`customer_id = ${org.customer_id} and org_id = ${org.id}`;
  await db
    .deleteFrom("scim_groups")
    .where(inOrg)
    .where(sql<SqlBool>`${which}`)
    .execute();
}

/** Forgets which members of an org sources manage, and what these have said of them. */
export async function removeScimUsers(db: Kysely<Schema>, org: OrgKey, which: RawBuilder<unknown>): Promise<void> {
  const inOrg = sql<SqlBool>`customer_id = ${org.customer_id} and org_id = ${org.id}`;
  await db
    .deleteFrom("scim_users")
    .where(inOrg)
    .where(sql<SqlBool>`${which}`)
    .execute();
}
