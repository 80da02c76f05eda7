import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { AuthMethod } from "../../identity/oidc/provider-client.ts";
import { isAccepted } from "../identities/store.ts";
import { isUsable } from "./choice-store.ts";
import { clockMs } from "../../database/clock.ts";

export interface SignInProviderRow {
  readonly id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly display_name: string;
  readonly issuer: string;
  readonly client_id: string;
  readonly sealed_secret: Buffer | null;
  readonly token_endpoint_auth_method: AuthMethod | null;
  readonly scopes: readonly string[];
  readonly subject_claim: string;
  /** Whether it creates members, and of whom its condition is true then. */
  readonly creates_members: boolean;
  readonly first_sign_in_condition: string;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

const columns = sql`identity_providers.id, identity_providers.org_id, orgs.name as org_name, identity_providers.display_name,
  identity_providers.issuer, identity_providers.client_id, identity_providers.sealed_secret,
  identity_providers.token_endpoint_auth_method, identity_providers.scopes, identity_providers.subject_claim,
  identity_providers.creates_members, identity_providers.first_sign_in_condition,
  ${clockMs} as now`;

/** Returns the providers of the installation, and then those of an org by its name. */
export async function listSignInProviders(
  db: Kysely<Schema>,
  systemOrgId: string,
  orgName: string | undefined,
): Promise<SignInProviderRow[]> {
  const { rows } = await sql<SignInProviderRow>`
    select ${columns} from orgs join identity_providers on identity_providers.customer_id = orgs.customer_id
      and identity_providers.org_id = orgs.id
    where orgs.id = ${systemOrgId} or (orgs.name = ${orgName ?? ""} and orgs.delete_time is null and orgs.state = 'ACTIVE')
    order by orgs.id = ${systemOrgId} desc, identity_providers.display_name, identity_providers.id`.execute(db);
  return rows;
}

export async function readSignInProvider(db: Kysely<Schema>, id: string): Promise<SignInProviderRow | undefined> {
  const { rows } = await sql<SignInProviderRow>`
    select ${columns} from identity_providers
    join orgs on orgs.customer_id = identity_providers.customer_id and orgs.id = identity_providers.org_id
    where identity_providers.id = ${id} and orgs.delete_time is null and orgs.state = 'ACTIVE'`.execute(db);
  return rows[0];
}

/** An identity of somebody who signs in. */
export interface LinkedIdentity {
  readonly identityId: string;
  /** The `token_gen` of its member. */
  readonly gen: string | null;
  /** Whether its member can be signed in, or the identity accepted, as things are now. */
  readonly usable: boolean;
}

/** The maximum number of identities among which a person chooses. Those that the person has accepted come first. */
const maxIdentities = 1_000;

/** Returns the identities of a person: those in the org of the provider, or in all orgs for one of the installation. */
export async function findIdentities(
  db: Kysely<Schema>,
  provider: Pick<SignInProviderRow, "id" | "org_id">,
  systemOrgId: string,
  subject: string,
): Promise<LinkedIdentity[]> {
  const { rows } = await sql<LinkedIdentity>`
    select identities.id as "identityId", members.token_gen as gen, (${isUsable}) as usable
    from identities
    join identity_providers on identity_providers.id = identities.provider_id
    join members on members.customer_id = identities.customer_id and members.org_id = identities.org_id and members.id = identities.member_id
    join orgs on orgs.customer_id = identities.customer_id and orgs.id = identities.org_id
    where identities.provider_id = ${provider.id} and identities.subject = ${subject}
      and (${provider.org_id} = ${systemOrgId} or identities.org_id = ${provider.org_id})
    order by ${isAccepted} desc, identities.id
    limit ${maxIdentities}`.execute(db);
  return rows;
}
