// API keys without an end, and what nobody has used for some time. Only the last uses of API keys and Sessions are kept; what Members did
// with those that are gone is in the log, by the Member that contained them. A Member is used, too, if a service asks what it may do.
import { type RawBuilder, sql } from "kysely";
import { isInThePast } from "../../database/partitions.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { type FindingColumns, type FindingSource, isUnexpired, pathTexts, unusedSince } from "./finding-source.ts";
import { isUnused, joinUses } from "./use-sources.ts";

const ofKeys = { needs: ["iam.apiKeys.list"], table: "api_keys", key: ["member_id", "id"], atOnce: 2_000 } as const;

const apiKeysWithPaths = sql`
  candidates as api_keys
  join orgs on orgs.customer_id = api_keys.customer_id and orgs.id = api_keys.org_id
  join members on members.customer_id = api_keys.customer_id and members.org_id = api_keys.org_id and members.id = api_keys.member_id
    and members.delete_time is null`;

export const keysWithoutEnd: FindingSource = {
  ...ofKeys,
  kind: "API_KEY_WITHOUT_END",
  select: () => sql<FindingColumns>`
    select api_keys.key, 'API_KEY_WITHOUT_END'::text as kind, ${pathTexts.apiKey} as resource_path, ''::text as related_path,
      api_keys.create_time as since_time, null::uuid as project_id, null::text[] as permissions
    from ${apiKeysWithPaths}
    where api_keys.expire_time is null`,
};

export const unusedKeys: FindingSource = {
  ...ofKeys,
  kind: "API_KEY_UNUSED",
  select: (question) => sql<FindingColumns>`
    select api_keys.key, 'API_KEY_UNUSED'::text as kind, ${pathTexts.apiKey} as resource_path, ''::text as related_path,
      coalesce(greatest(api_keys.last_use_time, of_sessions.time), api_keys.create_time) as since_time, null::uuid as project_id, null::text[] as permissions
    from ${apiKeysWithPaths}
    left join lateral (
      select max(sessions.refresh_time) as time from sessions
      where ${isInOrgOf("sessions", question.org)} and sessions.api_key_id = api_keys.id
    ) as of_sessions on true
    where ${isUnexpired("api_keys")} and api_keys.create_time < ${unusedSince(question)}
      and coalesce(greatest(api_keys.last_use_time, of_sessions.time), '-infinity') < ${unusedSince(question)}`,
};

/** When an entry of the log says that its member did something: began a session or was impersonated, or what a session or key that is gone was used for last. */
const loggedUse = sql`greatest(
  case when changes.before is null and changes.resource_type in ('Session', 'Token') then changes.time end,
  (changes.before ->> 'refresh_time')::timestamptz, (changes.before ->> 'last_use_time')::timestamptz)`;

const entriesOfMember = (orgId: string): RawBuilder<unknown> => sql`
  changes where changes.org_id = ${orgId} and changes.container_id = members.id and ${sql.raw(isInThePast)}
    and changes.resource_type in ('ApiKey', 'Session', 'Token')`;

export const unusedMembers: FindingSource = {
  kind: "MEMBER_UNUSED",
  needs: ["iam.members.list", "iam.sessions.list", "iam.apiKeys.list"],
  table: "members",
  key: ["id"],
  isCandidate: sql`members.delete_time is null`,
  isOfUse: true,
  // Each one can take a search in each month of the log.
  atOnce: 500,
  select: (question) => {
    const { org } = question;
    const since = unusedSince(question);
    return sql<FindingColumns>`
      select members.key, 'MEMBER_UNUSED'::text as kind, ${pathTexts.member} as resource_path, ''::text as related_path,
        greatest(members.create_time, kept.time, access_uses.last_day, (select max(${loggedUse}) from ${entriesOfMember(org.id)})) as since_time,
        null::uuid as project_id, null::text[] as permissions
      from candidates as members
      join orgs on orgs.customer_id = members.customer_id and orgs.id = members.org_id
      left join lateral (
        select greatest(
          (select max(greatest(sessions.create_time, sessions.refresh_time)) from sessions
            where ${isInOrgOf("sessions", org)} and sessions.member_id = members.id),
          (select max(api_keys.last_use_time) from api_keys
            where ${isInOrgOf("api_keys", org)} and api_keys.member_id = members.id)
        ) as time
      ) as kept on true
      ${joinUses(question, "members.id", sql`''`)}
      where members.state = 'ACTIVE' and members.create_time < ${since} and coalesce(kept.time, '-infinity') < ${since}
        and ${isUnused(question)} and not exists (
          -- Read by their member, and not all of the org to be joined.
          select from ${entriesOfMember(org.id)} and changes.time >= ${since} and ${loggedUse} >= ${since} offset 0
        )`;
  },
};
