// The SCIM source of a call, and where it is.
import { type Kysely, sql } from "kysely";
import type { Caller } from "../identity/caller.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError } from "../errors/service-error.ts";

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly orgId: string;
  /** The identity provider of its people; null for none. */
  readonly providerId: string | null;
  readonly subject: "EXTERNAL_ID" | "USER_NAME";
}

interface SourceRow {
  readonly id: string;
  readonly name: string;
  readonly provider_id: string | null;
  readonly subject: Source["subject"];
  readonly is_own_key: boolean;
}

/**
 * Finds the source whose member makes a call. A source does more than its member holds, so only the member itself acts as one: with an API key
 * of its own, or a token of that.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export async function findSource(db: Kysely<Schema>, caller: Caller): Promise<Source> {
  const { customerId, orgId, memberId, credentialId } = caller;
  const ofMember = sql`customer_id = ${customerId} and org_id = ${orgId} and member_id = ${memberId}`;
  const { rows } = await sql<SourceRow>`
    select id, name, provider_id, subject,
      exists (select from api_keys where ${ofMember} and id = ${credentialId})
        or exists (select from sessions where ${ofMember} and id = ${credentialId} and api_key_id is not null) as is_own_key
    from scim_sources where ${ofMember}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw noSource();
  if (caller.impersonator !== undefined || caller.token?.clientOrgId !== undefined || !row.is_own_key)
    throw notItself();
  const { id, name, provider_id: providerId, subject } = row;
  return { id, name, customerId, orgId, providerId, subject };
}

function notItself(): ServiceError {
  const message =
    "SCIM is called by the application of a source itself: with an API key of its own, or a token of that key; not by who impersonates it, and with no sign-in or client";
  return new ServiceError("PERMISSION_DENIED", message);
}

export function noSource(): ServiceError {
  const message =
    "the caller is the member of no SCIM source of this org: an owner creates one with the member as its member_path";
  return new ServiceError("PERMISSION_DENIED", message);
}
