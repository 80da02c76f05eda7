import { type Kysely, sql } from "kysely";
import type { Members, Schema } from "../../database/schema.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { Caller } from "../../identity/caller.ts";

/** The rows behind a credential, as they are at one time. */
export interface CallerRow extends Pick<Members, "type" | "state"> {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly delete_time: null;
  readonly org_id: string;
  readonly org_name: string;
  readonly org_display_name: string;
  readonly org_delete_time: null;
  readonly key_name: string | null;
  readonly credential_expire_time: Date | null;
  /** The name of the member that has the API key or session: the caller, or its impersonator. */
  readonly holder_name: string;
  /** The project to which the credential is narrowed; null for none, and for one that was purged. */
  readonly project_name: string | null;
  readonly project_delete_time: Date | null;
}

/**
 * Reads the caller and its credential, all of which are in one org.
 *
 * @returns undefined if the member is no longer active, or the API key or session no longer exists.
 */
export async function readCaller(db: Kysely<Schema>, caller: Caller): Promise<CallerRow | undefined> {
  const { orgId, memberId, credentialId, projectId, impersonator } = caller;
  const { rows } = await sql<CallerRow>`
    select members.id, members.name, members.display_name, members.delete_time, members.type, members.state,
      orgs.id as org_id, orgs.name as org_name, orgs.display_name as org_display_name,
      orgs.delete_time as org_delete_time,
      api_keys.name as key_name, coalesce(api_keys.expire_time, sessions.expire_time) as credential_expire_time,
      holders.name as holder_name,
      projects.name as project_name, projects.delete_time as project_delete_time
    from orgs
    join members on members.customer_id = orgs.customer_id and members.org_id = orgs.id and members.id = ${memberId}
    join members as holders on holders.customer_id = orgs.customer_id and holders.org_id = orgs.id and holders.id = ${impersonator?.memberId ?? memberId}
      and holders.state = 'ACTIVE' and holders.delete_time is null
    left join api_keys on api_keys.customer_id = orgs.customer_id and api_keys.org_id = orgs.id and api_keys.member_id = holders.id
      and api_keys.id = ${credentialId}
    left join sessions on sessions.customer_id = orgs.customer_id and sessions.org_id = orgs.id and sessions.member_id = holders.id
      and sessions.id = ${credentialId}
    left join projects on projects.customer_id = orgs.customer_id and projects.org_id = orgs.id and projects.id = ${projectId ?? null}
    where orgs.id = ${orgId} and ${isActiveMember} and (api_keys.id is not null or sessions.id is not null)`.execute(
    db,
  );
  return rows[0];
}
