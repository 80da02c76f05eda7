import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { readClock } from "../../database/clock.ts";

export interface PreviewedMember {
  readonly orgId: string;
  readonly memberId: string;
  readonly memberPath: string;
}

interface FoundKey {
  readonly member_id: string;
  readonly name: string;
}

/**
 * Returns the paths of the valid API keys of those members that are applications, ordered by the ids of the members and then by
 * name.
 *
 * @param limit the maximum number of paths.
 */
export async function listApplicationKeys(
  db: Kysely<Schema>,
  members: readonly PreviewedMember[],
  limit: number,
): Promise<string[]> {
  const pathOf = new Map(members.map(({ memberId, memberPath }) => [memberId, memberPath]));
  if (pathOf.size === 0) return [];
  const orgs = members.map(({ orgId }) => orgId);
  const ids = members.map(({ memberId }) => memberId);
  const now = await readClock(db);
  const { rows } = await sql<FoundKey>`
    select api_keys.member_id, api_keys.name
    from (select distinct org_id, id from unnest(${orgs}::uuid[], ${ids}::uuid[]) as given (org_id, id)) as wanted
    join members on members.org_id = wanted.org_id and members.id = wanted.id and members.type = 'APPLICATION'
    join api_keys on api_keys.customer_id = members.customer_id and api_keys.org_id = members.org_id and api_keys.member_id = members.id
    where coalesce(api_keys.expire_time > ${now}, true)
    order by api_keys.member_id, api_keys.name collate "C" limit ${limit}`.execute(db);
  return rows.map(({ member_id: memberId, name }) => `${pathOf.get(memberId) ?? ""}/apiKeys/${name}`);
}
