import { type InferResult, type Kysely, sql } from "kysely";
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
  "subject_claim",
  "creates_members",
  "first_sign_in_condition",
  "first_sign_in_group_ids",
  "first_sign_in_author_org_id",
  "first_sign_in_author_id",
  ...namedColumns,
] as const;

/** The names of the groups that members join at their first sign-in, in the order of their ids. Those that no longer exist have none. */
const groupNames = sql<string[]>`array(
  select groups.name
  from unnest(identity_providers.first_sign_in_group_ids) with ordinality as given (id, number)
  join groups on groups.customer_id = identity_providers.customer_id and groups.org_id = identity_providers.org_id
    and groups.id = given.id
  order by given.number)`;

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
    .select([...pathColumns.org, groupNames.as("first_sign_in_group_names")]);
}
