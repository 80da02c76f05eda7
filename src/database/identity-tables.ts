import type { ColumnType, Generated } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of identity providers and identities, as Kysely and pg read them.

export interface IdentityProviders extends NamedColumns {
  customer_id: string;
  org_id: string;
  issuer: string;
  client_id: string;
  /** The secret of the client, encrypted with the id of the row; null for a public client. */
  sealed_secret: Buffer | null;
  /** How the client proves that it has the secret; null for what OpenID Connect says for none. */
  token_endpoint_auth_method: Generated<"CLIENT_SECRET_BASIC" | "CLIENT_SECRET_POST" | null>;
  scopes: string[];
  /** Whether addresses that it does not call verified are those of its people. */
  email_trusted: Generated<boolean>;
  /** The claim of ID tokens that is the subject; empty for `sub`. */
  subject_claim: Generated<string>;
  /** Whether a member is created for somebody who signs in, whom no member is linked with, and of whom the condition is true. */
  creates_members: Generated<boolean>;
  first_sign_in_condition: Generated<string>;
  /** The groups that such a member joins. Some may no longer exist. */
  first_sign_in_group_ids: Generated<string[]>;
  /** Who has set that, of any org; null unless members are created. */
  first_sign_in_author_org_id: string | null;
  first_sign_in_author_id: string | null;
}

export interface Identities extends NamedColumns {
  customer_id: string;
  org_id: string;
  member_id: string;
  /** The provider, of the same org or of the org `system`. It is removed after its identities. */
  provider_id: string;
  subject: string;
  /** The member that created it, of any org; null for the service itself, and in rows of servers of earlier versions. */
  creator_org_id: string | null;
  creator_id: string | null;
  /** When its person accepted it at a sign-in; null before. One of a provider of its own org needs no acceptance. */
  accept_time: ColumnType<Date | null, Date | string | null, Date | string | null>;
  /** When its person declined it. The org does not see it: no read returns it, and the change log does not have it. */
  decline_time: ColumnType<Date | null, never, Date | null>;
}

/** The tables of sign-ins through identity providers. */
export interface IdentityTables {
  identity_providers: IdentityProviders;
  identities: Identities;
}
