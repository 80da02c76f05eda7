import type { JSONColumnType } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of SCIM sources and of what they manage, as Kysely and pg read them.

/** @public */
export interface ScimSources extends NamedColumns {
  customer_id: string;
  org_id: string;
  /** The application as which the directory acts; null for none. */
  member_id: string | null;
  /** The provider of the same org with which its people sign in; null for none. */
  provider_id: string | null;
  /** What of a user is its subject there. */
  subject: "EXTERNAL_ID" | "USER_NAME";
}

/** What a directory has said of a user, besides its state. */
export interface UserAttributes {
  readonly userName: string;
  readonly externalId?: string;
  readonly displayName?: string;
  readonly name?: { readonly formatted?: string; readonly givenName?: string; readonly familyName?: string };
  readonly emails?: readonly UserEmail[];
}

export interface UserEmail {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

/** @public */
export interface ScimUsers {
  customer_id: string;
  org_id: string;
  source_id: string;
  member_id: string;
  /** The name, the display name and the addresses, folded. */
  user_key: string;
  display_key: string;
  emails: string[];
  external_id: string | null;
  attributes: JSONColumnType<UserAttributes>;
  update_time: Date;
}

/** @public */
export interface ScimGroups {
  customer_id: string;
  org_id: string;
  source_id: string;
  group_id: string;
  display_name: string;
  /** The display name, folded. */
  display_key: string;
  external_id: string | null;
  update_time: Date;
}

/** @public */
export interface ScimTables {
  scim_sources: ScimSources;
  scim_users: ScimUsers;
  scim_groups: ScimGroups;
}
