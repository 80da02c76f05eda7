import { type InferResult, type Kysely, sql } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type IdentityRow = InferResult<ReturnType<typeof selectIdentities>>[number];

export const identityColumns = [
  "org_id",
  "member_id",
  "provider_id",
  "subject",
  "creator_org_id",
  "creator_id",
  "accept_time",
  ...namedColumns,
] as const;

/** Whether an identity signs its person in: its provider is of its own org, or the person has accepted it. */
export const isAccepted = sql<boolean>`
  (identities.accept_time is not null or identity_providers.org_id = identities.org_id)`;

export const identityState = sql<"PENDING" | "ACTIVE">`case when ${isAccepted} then 'ACTIVE' else 'PENDING' end`;

/** Selects all identities, with their providers and the columns that their paths need. */
export function selectIdentities(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", (join) =>
      join.onRef("members.customer_id", "=", "orgs.customer_id").onRef("members.org_id", "=", "orgs.id"),
    )
    .innerJoin("identities", (join) =>
      join
        .onRef("identities.customer_id", "=", "members.customer_id")
        .onRef("identities.org_id", "=", "members.org_id")
        .onRef("identities.member_id", "=", "members.id"),
    )
    .leftJoin("identity_providers", "identity_providers.id", "identities.provider_id")
    .leftJoin("orgs as provider_orgs", (join) =>
      join
        .onRef("provider_orgs.customer_id", "=", "identity_providers.customer_id")
        .onRef("provider_orgs.id", "=", "identity_providers.org_id"),
    )
    .select(columnsOf("identities", identityColumns))
    .select([
      ...pathColumns.org,
      ...pathColumns.member,
      identityState.as("state"),
      "identity_providers.name as provider_name",
      "identity_providers.issuer",
      "provider_orgs.name as provider_org_name",
    ]);
}
