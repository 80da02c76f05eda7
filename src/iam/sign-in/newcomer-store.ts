import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { foldEmail } from "../../validation/email-address.ts";
import type { Newcomer } from "./provider-sign-in.ts";

/** What an identity provider does at first sign-ins. */
export interface FirstSignInRow {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly email_trusted: boolean;
  readonly subject_claim: string;
  readonly creates_members: boolean;
  readonly first_sign_in_condition: string;
  /** Those that still exist, in their order. */
  readonly group_ids: readonly string[];
  readonly first_sign_in_author_org_id: string | null;
  readonly first_sign_in_author_id: string | null;
  /** Whether a SCIM source says who is a member of the org. */
  readonly has_directory: boolean;
}

/** Reads an identity provider of the org of a write; undefined if it is gone. */
export async function readFirstSignIn({ db, org }: OrgTransaction, id: string): Promise<FirstSignInRow | undefined> {
  const { rows } = await sql<FirstSignInRow>`
    select id, name, display_name, email_trusted, subject_claim, creates_members, first_sign_in_condition,
      array(
        select groups.id
        from unnest(first_sign_in_group_ids) with ordinality as given (id, number)
        join groups on groups.customer_id = ${org.customer_id} and groups.org_id = ${org.id} and groups.id = given.id
        order by given.number
      ) as group_ids,
      first_sign_in_author_org_id, first_sign_in_author_id,
      exists (select from scim_sources where ${isInOrgOf("scim_sources", org)}) as has_directory
    from identity_providers
    where ${isInOrgOf("identity_providers", org)} and id = ${id}`.execute(db);
  return rows[0];
}

/** Returns those of some names that members of the org have, or had until they were deleted: those can be restored, and are in its log. */
export async function readTakenNames(
  { db, org }: OrgTransaction,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("members")
    .select("name")
    .where(isInOrgOf("members", org))
    .where("name", "in", names)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** Reports whether a member of the org has an address. */
export async function isAddressTaken({ db, org }: OrgTransaction, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from members
    where ${isInOrgOf("members", org)} and email is not null and delete_time is null
      and lower(email collate "C") = ${foldEmail(email)}
    limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Reports whether a member of the org, in any state, has an identity of a person: also of another provider, of the org or the installation, whose
 * issuer means the same person by the subject. Whether an issuer ends with a slash is not told apart: many are reached by both.
 */
export async function isLinkedElsewhere(
  { db, org }: OrgTransaction,
  { provider, subject }: Newcomer,
  systemOrgId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from identities
    join identity_providers on identity_providers.id = identities.provider_id
    where ${isInOrgOf("identities", org)} and identities.subject = ${subject}
      and identity_providers.org_id in (${org.id}, ${systemOrgId}) 
      and rtrim(identity_providers.issuer, '/') = rtrim(${provider.issuer}, '/')
      and coalesce(nullif(identity_providers.subject_claim, ''), 'sub') = coalesce(nullif(${provider.subject_claim}, ''), 'sub')
    limit 1`.execute(db);
  return rows.length > 0;
}
