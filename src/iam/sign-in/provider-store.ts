import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";

export interface SignInProviderRow {
  readonly id: string;
  readonly org_id: string;
  readonly display_name: string;
  readonly issuer: string;
  readonly client_id: string;
  readonly sealed_secret: Buffer | null;
  readonly scopes: readonly string[];
}

const columns = sql`identity_providers.id, identity_providers.org_id, identity_providers.display_name,
  identity_providers.issuer, identity_providers.client_id, identity_providers.sealed_secret, identity_providers.scopes`;

/** Returns the providers of the installation, and those of an org by its name. */
export async function listSignInProviders(
  db: Kysely<Schema>,
  systemOrgId: string,
  orgName: string | undefined,
): Promise<SignInProviderRow[]> {
  const { rows } = await sql<SignInProviderRow>`
    select ${columns} from orgs join identity_providers on identity_providers.org_id = orgs.id
    where orgs.id = ${systemOrgId} or (orgs.name = ${orgName ?? ""} and orgs.delete_time is null and orgs.state = 'ACTIVE')
    order by orgs.id = ${systemOrgId}, identity_providers.display_name, identity_providers.id`.execute(db);
  return rows;
}

export async function readSignInProvider(db: Kysely<Schema>, id: string): Promise<SignInProviderRow | undefined> {
  const { rows } = await sql<SignInProviderRow>`
    select ${columns} from identity_providers join orgs on orgs.id = identity_providers.org_id
    where identity_providers.id = ${id} and orgs.delete_time is null and orgs.state = 'ACTIVE'`.execute(db);
  return rows[0];
}

/** Returns the members with an identity: those of the org of the provider, or of all orgs for one of the installation. */
export async function findLinkedMembers(
  db: Kysely<Schema>,
  provider: Pick<SignInProviderRow, "id" | "org_id">,
  systemOrgId: string,
  subject: string,
): Promise<{ readonly orgId: string; readonly memberId: string; readonly identityId: string }[]> {
  let query = db
    .selectFrom("identities")
    .select(["org_id as orgId", "member_id as memberId", "id as identityId"])
    .where("provider_id", "=", provider.id)
    .where("subject", "=", subject);
  if (provider.org_id !== systemOrgId) query = query.where("org_id", "=", provider.org_id);
  return query.orderBy("org_id").execute();
}
