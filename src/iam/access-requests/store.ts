import { type InferResult, type Kysely, type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { statementTime } from "../../database/clock.ts";
import { columnsOf, pathColumns, versionColumns } from "../../database/columns.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { supportRequiredSince } from "../../database/support-required.ts";
import type { Schema } from "../../database/schema.ts";

export type AccessRequestRow = InferResult<ReturnType<typeof selectAccessRequests>>[number];

export const accessRequestColumns = [
  "org_id",
  "id",
  "project_id",
  "member_id",
  "supporter_org_id",
  "supporter_id",
  "supporter_name",
  "predefined_role",
  "role_id",
  "reason",
  "expire_time",
  "lapse_time",
  "state",
  "approver_org_id",
  "approver_id",
  "approval_message",
  "approve_time",
  "decider_org_id",
  "decider_id",
  "decision_message",
  "decide_time",
  "binding_id",
  "ender_org_id",
  "ender_id",
  "end_time",
  "break_glass",
  ...versionColumns,
] as const;

type CurrentState = "PENDING" | "APPROVED" | "DECLINED" | "CANCELLED" | "EXPIRED" | "ENDED";

/**
 * Returns the state at a time: the access has ended once there is no role binding that has not expired. That of a member of the platform has none,
 * and ends with the request, or when the requirement by which it was asked for ends.
 */
export const currentState = (now: RawBuilder<Date>) => sql<CurrentState>`case
  when access_requests.state = 'PENDING' and access_requests.lapse_time <= ${now} then 'EXPIRED'
  when access_requests.supporter_id is not null then
    case when access_requests.state = 'APPROVED' and (access_requests.expire_time <= ${now}
      or coalesce(access_requests.decide_time < ${supportRequiredSince}, true)) then 'ENDED' else access_requests.state end
  when access_requests.state = 'APPROVED' and (bindings.id is null or bindings.expire_time <= ${now}) then 'ENDED'
  else access_requests.state end`;

/** What the paths of members of the platform that ask, and of those who decided and ended need. */
const peopleColumns = [
  "approver_orgs.name as approver_org_name",
  "approver_orgs.delete_time as approver_org_delete_time",
  "approvers.name as approver_name",
  "approvers.delete_time as approver_delete_time",
  "supporter_orgs.name as supporter_org_name",
  "supporter_orgs.delete_time as supporter_org_delete_time",
  "supporters.delete_time as supporter_delete_time",
  "supporters.state as supporter_state",
  "decider_orgs.name as decider_org_name",
  "decider_orgs.delete_time as decider_org_delete_time",
  "deciders.name as decider_name",
  "deciders.delete_time as decider_delete_time",
  "ender_orgs.name as ender_org_name",
  "ender_orgs.delete_time as ender_org_delete_time",
  "enders.name as ender_name",
  "enders.delete_time as ender_delete_time",
] as const;

/** All access requests, with the org, and with what they ask for and give. */
function joinWanted(db: Kysely<Schema>) {
  return (
    db
      .selectFrom("orgs")
      .innerJoin("access_requests", (join) =>
        join
          .onRef("access_requests.customer_id", "=", "orgs.customer_id")
          .onRef("access_requests.org_id", "=", "orgs.id"),
      )
      // In an inner join, the planner would look for members of the org.
      .leftJoin("members", (join) =>
        join
          .onRef("members.customer_id", "=", "access_requests.customer_id")
          .onRef("members.org_id", "=", "access_requests.org_id")
          .onRef("members.id", "=", "access_requests.member_id"),
      )
      .leftJoin("projects", (join) =>
        join
          .onRef("projects.customer_id", "=", "access_requests.customer_id")
          .onRef("projects.org_id", "=", "access_requests.org_id")
          .onRef("projects.id", "=", "access_requests.project_id"),
      )
      .leftJoin("roles", (join) =>
        join
          .onRef("roles.customer_id", "=", "access_requests.customer_id")
          .onRef("roles.org_id", "=", "access_requests.org_id")
          .onRef("roles.id", "=", "access_requests.role_id"),
      )
      .leftJoin("role_bindings as bindings", (join) =>
        join
          .onRef("bindings.org_customer_id", "=", "access_requests.customer_id")
          .onRef("bindings.org_id", "=", "access_requests.org_id")
          .onRef("bindings.id", "=", "access_requests.binding_id"),
      )
  );
}

/** Selects all access requests, with the columns that paths need. The role, and those who decided, may no longer exist. */
export function selectAccessRequests(db: Kysely<Schema>, now: RawBuilder<Date> = statementTime) {
  return joinWanted(db)
    .leftJoin("orgs as approver_orgs", "approver_orgs.id", "access_requests.approver_org_id")
    .leftJoin("members as approvers", (join) =>
      join
        .onRef("approvers.customer_id", "=", "approver_orgs.customer_id")
        .onRef("approvers.org_id", "=", "approver_orgs.id")
        .onRef("approvers.id", "=", "access_requests.approver_id"),
    )
    .leftJoin("orgs as supporter_orgs", "supporter_orgs.id", "access_requests.supporter_org_id")
    .leftJoin("members as supporters", (join) =>
      join
        .onRef("supporters.customer_id", "=", "supporter_orgs.customer_id")
        .onRef("supporters.org_id", "=", "supporter_orgs.id")
        .onRef("supporters.id", "=", "access_requests.supporter_id"),
    )
    .leftJoin("orgs as decider_orgs", "decider_orgs.id", "access_requests.decider_org_id")
    .leftJoin("members as deciders", (join) =>
      join
        .onRef("deciders.customer_id", "=", "decider_orgs.customer_id")
        .onRef("deciders.org_id", "=", "decider_orgs.id")
        .onRef("deciders.id", "=", "access_requests.decider_id"),
    )
    .leftJoin("orgs as ender_orgs", "ender_orgs.id", "access_requests.ender_org_id")
    .leftJoin("members as enders", (join) =>
      join
        .onRef("enders.customer_id", "=", "ender_orgs.customer_id")
        .onRef("enders.org_id", "=", "ender_orgs.id")
        .onRef("enders.id", "=", "access_requests.ender_id"),
    )
    .select(columnsOf("access_requests", accessRequestColumns))
    .select([
      ...pathColumns.org,
      ...pathColumns.member,
      ...pathColumns.project,
      "members.state as member_state",
      "roles.name as role_name",
      "bindings.name as binding_name",
      ...peopleColumns,
      currentState(now).as("current_state"),
      sql<boolean>`access_requests.expire_time <= ${now}`.as("has_expired"),
      sql<number>`coalesce(orgs.access_request_approvals, 1)::int`.as("wanted_approvals"),
    ]);
}

/** Who asks: a member of the org, or one of the platform. */
export type Asking = Pick<AccessRequestRow, "member_id" | "supporter_org_id" | "supporter_id" | "supporter_name">;

/** Returns a member of the platform that asks, with its name: the org keeps who that was, whatever becomes of the member. */
export async function readSupporter(db: Kysely<Schema>, orgId: string, id: string): Promise<Omit<Asking, "member_id">> {
  const found = db.selectFrom("members").select("name").where("org_id", "=", orgId).where("id", "=", id);
  const { name } = await found.executeTakeFirstOrThrow();
  return { supporter_org_id: orgId, supporter_id: id, supporter_name: name };
}

/** Counts what somebody has asked for in an org: how many requests wait, and how many it has created since a time. */
export async function countOfMember(
  { db, org }: OrgTransaction,
  { member_id: memberId, supporter_id: supporterId }: Asking,
  since: Date,
): Promise<{ readonly pending: number; readonly created: number; readonly begun: number }> {
  const ofMember = db
    .selectFrom("access_requests")
    .where(isInOrgOf("access_requests", org))
    .$if(memberId !== null, (query) => query.where("member_id", "=", memberId))
    .$if(supporterId !== null, (query) => query.where("supporter_id", "=", supporterId));
  // Those that wait were created in the last weeks; the index is by member and time.
  const { rows } = await sql<{ pending: number; created: number; begun: number }>`
    select count(*) filter (where state = 'PENDING' and lapse_time > ${org.lockTime})::int as pending,
      count(*) filter (where create_time > ${since} and not break_glass)::int as created,
      count(*) filter (where create_time > ${since} and break_glass)::int as begun
    from (${ofMember.select(["state", "lapse_time", "create_time", "break_glass"]).where("create_time", ">", longestWaiting(org.lockTime))}) as recent`.execute(
    db,
  );
  return rows[0] ?? { pending: 0, created: 0, begun: 0 };
}

/** Counts the approved requests of members of the platform that have not ended. */
export async function countApproved({ db, org }: OrgTransaction): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from orgs join access_requests on ${isInOrgOf("access_requests", org)}
    where orgs.id = ${org.id} and supporter_id is not null and access_requests.state = 'APPROVED'
      and expire_time > ${org.lockTime} and decide_time >= ${supportRequiredSince}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** How long a request waits for a decision, in milliseconds. */
export const lapseMs = 14 * 86_400_000;

const longestWaiting = (now: Date): Date => new Date(now.getTime() - lapseMs);

/** How many projects a list of what somebody may decide about considers. */
const maxProjects = 1000;

/** Returns the projects of an org about which there are requests: those about which one waits first, and those with the latest. */
export async function projectsAskedFor(db: Kysely<Schema>, orgId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("access_requests")
    .select("project_id")
    .where("org_id", "=", orgId)
    .where("project_id", "is not", null)
    .groupBy("project_id")
    .orderBy(sql`bool_or(state = 'PENDING' and lapse_time > ${statementTime})`, "desc")
    .orderBy(sql`max(create_time)`, "desc")
    .limit(maxProjects)
    .execute();
  return rows.flatMap(({ project_id: id }) => (id === null ? [] : [id]));
}
