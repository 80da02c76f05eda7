import { type Kysely, type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import { isAccepted } from "../identities/store.ts";
import { clockMs, readClock } from "../../database/clock.ts";

/**
 * Whether the member of an identity can be signed in, or the identity accepted. A member of a suspended org can sign in, because it
 * may be the one that lifts the suspension; nothing else changes in such an org.
 */
export const isUsable = sql<boolean>`${isActiveMember} and (${isAccepted} or orgs.state = 'ACTIVE')`;

/** An identity that a browser may choose, with its member and who created it. */
export interface ChoiceRow {
  readonly id: string;
  readonly org_id: string;
  readonly member_id: string;
  readonly accepted: boolean;
  readonly declined: boolean;
  readonly org_name: string;
  readonly org_display_name: string;
  readonly member_name: string;
  readonly member_display_name: string;
  readonly provider_display_name: string;
  /** Null for none, and for a member that no longer exists. */
  readonly creator_org_id: string | null;
  readonly creator_org_name: string | null;
  readonly creator_org_delete_time: Date | null;
  readonly creator_id: string | null;
  readonly creator_name: string | null;
  readonly creator_display_name: string | null;
  readonly creator_delete_time: Date | null;
  readonly browser_expire_time: Date;
}

/**
 * Reads what a browser may choose: identities that are as they were at the sign-in, whose members have had no end of all their tokens
 * since. Those that the person has accepted come first.
 *
 * @param identityId of the only one to read; undefined for all.
 */
export async function readChoices(
  db: Kysely<Schema>,
  { id, hash }: SecretHandle,
  identityId?: string,
): Promise<ChoiceRow[]> {
  const { rows } = await sql<ChoiceRow & { readonly now: number }>`
    select identities.id, identities.org_id, identities.member_id, ${isAccepted} as accepted,
      identities.decline_time is not null as declined,
      orgs.name as org_name, orgs.display_name as org_display_name,
      members.name as member_name, members.display_name as member_display_name,
      identity_providers.display_name as provider_display_name,
      creator_orgs.id as creator_org_id, creator_orgs.name as creator_org_name,
      creator_orgs.delete_time as creator_org_delete_time,
      creators.id as creator_id, creators.name as creator_name, creators.display_name as creator_display_name,
      creators.delete_time as creator_delete_time,
      browser_sessions.expire_time as browser_expire_time, ${clockMs} as now
    from browser_sessions
    cross join jsonb_each_text(browser_sessions.choices) as choice (id, gen)
    join identities on identities.id = choice.id::uuid
    join identity_providers on identity_providers.id = identities.provider_id
    join orgs as provider_orgs on provider_orgs.customer_id = identity_providers.customer_id and provider_orgs.id = identity_providers.org_id
      and provider_orgs.delete_time is null and provider_orgs.state = 'ACTIVE'
    join members on members.customer_id = identities.customer_id and members.org_id = identities.org_id and members.id = identities.member_id
      and coalesce(members.token_gen::text, '') = choice.gen
    join orgs on orgs.customer_id = identities.customer_id and orgs.id = identities.org_id
    left join orgs as creator_orgs on creator_orgs.id = identities.creator_org_id
    left join members as creators on creators.customer_id = creator_orgs.customer_id and creators.org_id = creator_orgs.id and creators.id = identities.creator_id
    where browser_sessions.id = ${id} and browser_sessions.hash = ${hash}
      and ${isUsable}
      and (${identityId ?? null}::text is null or choice.id = ${identityId ?? null})
    order by ${isAccepted} desc, orgs.name, identities.id`.execute(db);
  return rows.filter((row) => row.browser_expire_time.getTime() > row.now);
}

/** Uses a choice of a browser up. Of many at once, exactly one succeeds. @returns whether it did. */
export async function useChoice(
  db: Transaction<Schema>,
  { id, hash }: SecretHandle,
  identityId: string,
): Promise<boolean> {
  const { rows } = await sql`
    update browser_sessions set choices = choices - ${identityId}::text
    where id = ${id} and hash = ${hash} and choices ? ${identityId}::text
    returning id`.execute(db);
  return rows.length > 0;
}

/** Notes that the person of an identity declines it, unless it has accepted it. The row alone is written: its org is told nothing. */
export async function declineIdentity(
  db: Kysely<Schema>,
  { org_id, member_id, id }: Pick<ChoiceRow, "org_id" | "member_id" | "id">,
): Promise<void> {
  await db
    .updateTable("identities")
    .set({ decline_time: new Date(await readClock(db)) })
    .where("org_id", "=", org_id)
    .where("member_id", "=", member_id)
    .where("id", "=", id)
    .where("accept_time", "is", null)
    .execute();
}
