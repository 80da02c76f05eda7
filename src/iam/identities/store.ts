import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type IdentityRow = InferResult<ReturnType<typeof selectIdentities>>[number];

export const identityColumns = ["org_id", "member_id", "provider_id", "subject", ...namedColumns] as const;

/** Selects all identities, with their providers and the columns that their paths need. */
export function selectIdentities(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .innerJoin("identities", (join) =>
      join.onRef("identities.org_id", "=", "members.org_id").onRef("identities.member_id", "=", "members.id"),
    )
    .leftJoin("identity_providers", "identity_providers.id", "identities.provider_id")
    .leftJoin("orgs as provider_orgs", "provider_orgs.id", "identity_providers.org_id")
    .select(columnsOf("identities", identityColumns))
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "members.name as member_name",
      "members.delete_time as member_delete_time",
      "identity_providers.name as provider_name",
      "identity_providers.issuer",
      "provider_orgs.name as provider_org_name",
    ]);
}
