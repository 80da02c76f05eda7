// What orgs have approved for members of the platform, as decisions read it.
import { sql } from "kysely";
import { statementTime } from "../../database/clock.ts";
import { supportRequiredSince } from "../../database/support-required.ts";

/** An approved access request of a member of the platform, as far as decisions need it. */
export interface SupportGrant {
  readonly requestId: string;
  readonly memberId: string;
  /** In milliseconds. */
  readonly expireTime: number;
  /** The name of a predefined role. */
  readonly role: string;
}

/** What has been approved in a customer that requires approval. */
export interface SupportAccess {
  /** Null for what is of the customer, whose orgs approve each for themselves. */
  readonly orgId: string | null;
  /** Whether the target is in no project. */
  readonly isWhole: boolean;
  readonly grants: readonly SupportGrant[];
}

/**
 * Reads what the org `orgs` has approved, at the time of the statement; null if its customer requires no approval. An org has few such requests at a time.
 * None counts while it is suspended: nobody could end it.
 */
export const supportGrants = sql<readonly SupportGrant[] | null>`(
  select case when required.since is not null then (
    select coalesce(json_agg(json_build_object(
      'requestId', requests.id, 'memberId', requests.supporter_id, 'role', requests.predefined_role,
      'expireTime', (extract(epoch from requests.expire_time) * 1000)::float8)), '[]'::json)
    from access_requests as requests
    where requests.customer_id = orgs.customer_id and requests.org_id = orgs.id and requests.supporter_id is not null
      and requests.state = 'APPROVED' and requests.decide_time >= required.since and requests.expire_time > ${statementTime}
      and orgs.state = 'ACTIVE' and orgs.delete_time is null
  ) end
  from (select ${supportRequiredSince} as since) as required)`;
