import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
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

/** Returns the names of the first API keys of a member that is that of no source, also of those that have ended. */
export async function listKeyNames(
  db: Kysely<Schema>,
  org: OrgKey,
  memberId: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("api_keys")
    .select("name")
    .where(isInOrgOf("api_keys", org))
    .where("member_id", "=", memberId)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("scim_sources")
            .select("scim_sources.id")
            .where(isInOrgOf("scim_sources", org))
            .where("scim_sources.member_id", "=", memberId),
        ),
      ),
    )
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}
