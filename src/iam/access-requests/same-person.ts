import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { MemberKey } from "./authority.ts";

/**
 * Reports whether two members are known to be one person: they are the same one, or both have an identity, with which it signs in, of the same subject of the
 * same issuer. The issuer may be the provider of several orgs, of one org several times, and of the installation. Whether it ends with a slash is not told apart.
 */
export async function isSamePerson(db: Kysely<Schema>, one: MemberKey, other: MemberKey): Promise<boolean> {
  if (one.orgId === other.orgId && one.memberId === other.memberId) return true;
  const identitiesOf = ({ orgId, memberId }: MemberKey) => sql`
    select identities.subject, rtrim(identity_providers.issuer, '/'), coalesce(nullif(identity_providers.subject_claim, ''), 'sub')
    from identities join identity_providers on identity_providers.id = identities.provider_id
    where identities.org_id = ${orgId} and identities.member_id = ${memberId}
      and (identities.accept_time is not null or identity_providers.org_id = identities.org_id)`;
  const { rows } = await sql<{ is_same: boolean }>`
    select exists (${identitiesOf(one)} intersect ${identitiesOf(other)}) as is_same`.execute(db);
  return rows[0]?.is_same === true;
}
