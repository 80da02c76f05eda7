import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type IdentityProviderRow = InferResult<ReturnType<typeof selectIdentityProviders>>[number];

export const identityProviderColumns = [
  "org_id",
  "issuer",
  "client_id",
  "token_endpoint_auth_method",
  "scopes",
  "email_trusted",
  ...namedColumns,
] as const;

/** Selects all identity providers, without their secrets, with the columns that their paths need. */
export function selectIdentityProviders(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("identity_providers", (join) =>
      join
        .onRef("identity_providers.customer_id", "=", "orgs.customer_id")
        .onRef("identity_providers.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("identity_providers", identityProviderColumns))
    .select([...pathColumns.org]);
}
