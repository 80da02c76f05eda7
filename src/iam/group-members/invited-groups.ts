// The groups of an invitation. The member is in them from the beginning, as INVITED, so that they are listed, logged and taken away as all
// memberships are. Each has who has invited the member into it, and ends when the invitation is accepted and that one may not add to it any more.
import { create } from "@bufbuild/protobuf";
import { type Kysely, sql } from "kysely";
import { GroupMemberSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import type { ResourceDependencies, ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { writeOpened } from "../../standard-methods/write/write-rows.ts";
import { membershipDefinition } from "./membership-definition.ts";
import { createMembershipRules } from "./membership-rules.ts";
import type { MembershipRow } from "./membership-store.ts";
import { type Sponsor, type SponsorNow, type Sponsors, authorOf } from "./sponsor.ts";

export interface GroupJoins {
  /**
   * Adds a member to groups, as somebody who may do so by hand.
   *
   * @throws ServiceError as CreateGroupMember does.
   */
  join(transaction: OrgTransaction, memberId: string, groupIds: readonly string[], by: Sponsor): Promise<void>;
}

/** Creates what adds members to groups by the rules of memberships. */
export function createGroupJoins(dependencies: ResourceDependencies): GroupJoins {
  const [place] = membershipDefinition.places;
  const served: ServedResource<"group_members", MembershipRow, typeof GroupMemberSchema> = {
    definition: membershipDefinition,
    place,
    rules: createMembershipRules(dependencies),
    reader: dependencies.readers.readerOf(membershipDefinition, place),
    dependencies,
  };
  return {
    async join(transaction, memberId, groupIds, by) {
      if (groupIds.length === 0) return;
      const org = { by: "id", value: transaction.org.id } as const;
      const memberPath = formatPath(patterns.Member, `@${org.value}`, `@${memberId}`);
      const resources = {
        parents: groupIds.map((value) => [org, { by: "id", value } as const]),
        messages: groupIds.map(() => create(GroupMemberSchema, { memberPath })),
        checked: [],
      };
      const asSponsor = { ...transaction, author: authorOf(by, transaction.author), authorHead: undefined };
      await writeOpened(served, asSponsor, () =>
        planCreation(served, asSponsor, resources, alone, (rows: readonly MembershipRow[]) => rows),
      );
    },
  };
}

/** Notes who has invited a member into the groups that it is in. */
export async function noteInviter(
  { db, org }: OrgTransaction,
  memberId: string,
  { orgId, memberId: inviterId }: Sponsor,
): Promise<void> {
  await db
    .updateTable("group_members")
    .set({ inviter_org_id: orgId, inviter_id: inviterId })
    .where(isInOrgOf("group_members", org))
    .where("member_id", "=", memberId)
    .execute();
}

/** A group that a member joins when it accepts. */
export interface InvitedGroup {
  readonly group_id: string;
  readonly display_name: string;
  readonly inviter_org_id: string;
  readonly inviter_id: string;
}

/** Returns the groups into which a member was invited. */
export async function readInvitedGroups(db: Kysely<Schema>, org: OrgKey, memberId: string): Promise<InvitedGroup[]> {
  const { rows } = await sql<InvitedGroup>`
    select group_members.group_id, groups.display_name, group_members.inviter_org_id, group_members.inviter_id
    from group_members
    join groups on groups.customer_id = group_members.customer_id and groups.org_id = group_members.org_id
      and groups.id = group_members.group_id
    where ${isInOrgOf("group_members", org)} and group_members.member_id = ${memberId}
      and group_members.inviter_id is not null
    order by groups.display_name, groups.id`.execute(db);
  return rows;
}

/** Ends the memberships of an invited member in groups to which who has invited it may not add any more. */
export async function leaveUnsponsored(
  transaction: OrgTransaction,
  { registry }: Pick<ResourceDependencies, "registry">,
  sponsors: Pick<Sponsors, "lookAt">,
  memberId: string,
): Promise<void> {
  const { db, org } = transaction;
  const left: InvitedGroup[] = [];
  const known = new Map<string, SponsorNow>();
  for (const group of await readInvitedGroups(db, org, memberId)) {
    const { inviter_id: inviterId, inviter_org_id: orgId } = group;
    const now = known.get(inviterId) ?? (await sponsors.lookAt(transaction, { orgId, memberId: inviterId }));
    known.set(inviterId, now);
    if (!(await now.mayAddTo(group.group_id))) left.push(group);
  }
  if (left.length === 0) return;
  const keys = left.map((group) => ({ org_id: org.id, group_id: group.group_id, member_id: memberId }));
  const rows = (await readByKeys(db, membershipDefinition, keys)).filter((row) => row !== undefined);
  await removeRows(db, registry, membershipDefinition, org, rows);
  for (const row of rows) recordChange(transaction, membershipDefinition, row, null);
}
