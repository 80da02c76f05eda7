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
}

/**
 * Finds the source whose member makes a call.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export async function findSource(
  db: Kysely<Schema>,
  { customerId, orgId, memberId }: Pick<Caller, "customerId" | "orgId" | "memberId">,
): Promise<Source> {
  const { rows } = await sql<SourceRow>`
    select id, name, provider_id, subject from scim_sources
    where customer_id = ${customerId} and org_id = ${orgId} and member_id = ${memberId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw noSource();
  const { id, name, provider_id: providerId, subject } = row;
  return { id, name, customerId, orgId, providerId, subject };
}

export function noSource(): ServiceError {
  const message =
    "the caller is the member of no SCIM source of this org: an owner creates one with the member as its member_path";
  return new ServiceError("PERMISSION_DENIED", message);
}
