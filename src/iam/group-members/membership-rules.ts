import type { GroupMemberSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import type { Later } from "../../database/write-transaction.ts";
import { ServiceError, deleted, notFound } from "../../errors/service-error.ts";
import { groupDefinition } from "../groups/definition.ts";
import type { GroupRow } from "../groups/store.ts";
import { memberDefinition } from "../members/definition.ts";
import type { MemberRow } from "../members/store.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { findParents } from "../../standard-methods/batch/find-parents.ts";
import { checkTogether, createFirstFault, mapUntilFault } from "../../standard-methods/batch/first-fault.ts";
import { endsBefore, readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { requireSameOrg } from "../../standard-methods/org-reference.ts";
import { lookUpInOrg } from "../../standard-methods/look-up-in-org.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { required } from "../../errors/required.ts";
import { removeWhere } from "../../standard-methods/rows/remove-rows.ts";
import { isOneOf } from "../../standard-methods/rows/row-key.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { membershipDefinition } from "./membership-definition.ts";
import { type MembershipRow, selectKeptMemberships } from "./membership-store.ts";
import { requireSamePath } from "./require-same-path.ts";

const memberPathField = "group_member.member_path";
const expireTimeField = "group_member.expire_time";

type MembershipRules = ResourceRules<"group_members", MembershipRow, typeof GroupMemberSchema>;

export function createMembershipRules({ readers, escalation }: ResourceDependencies): MembershipRules {
  const members = readers.readerOf(memberDefinition, memberDefinition.places[0]).lookup;
  const groups = readers.readerOf(groupDefinition, groupDefinition.places[0]).lookup;
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, messages, atItem) {
        const fault = createFirstFault(messages.length, atItem);
        const memberPaths = messages.map(({ memberPath }) => memberPath);
        const findingMembers = lookUpInOrg(transaction, members, patterns.Member, parseMemberPath, memberPaths);
        const found = await findParents(transaction, groups, parents);
        const memberAt = findingMembers();
        const given = mapUntilFault(messages, fault, ({ memberPath }, index) => {
          const { references } = parseMemberPath(memberPath);
          requireSameOrg(transaction, required(references[0]), memberPathField);
          const group = found[index];
          if (group === undefined) throw notFound("group", formatReferences(patterns.Group, required(parents[index])));
          return { references, group, member: memberAt.get(memberPath) };
        });
        const findingExpired = findExpired(
          transaction,
          given.flatMap(({ group, member }) => (member === undefined ? [] : [{ group, member }])),
        );
        await checkTogether(
          given,
          ({ group }) => group.id,
          fault,
          (some) => {
            const groupIds = some.map(({ group }) => group.id);
            return escalation.requireMayJoin(transaction, groupIds);
          },
        );
        const drafts = mapUntilFault(given, fault, ({ references, group, member }, index) => {
          const path = formatReferences(patterns.Member, references);
          if (member === undefined) throw notFound("member", path);
          if (member.delete_time !== null) throw deleted("member", path);
          const expireTime = readExpireTime(required(messages[index]).expireTime, transaction.org, expireTimeField);
          return {
            columns: { group_id: group.id, member_id: member.id, expire_time: expireTime },
            // One that expires is read again, because it may have expired meanwhile.
            ...(expireTime === null && { joined: joinedColumns(transaction, group, member) }),
          };
        });
        await fault.rejectIfAny();
        await transaction.db.sendHeld();
        await removeExpired(transaction, findingExpired());
        return drafts;
      },
    },

    async change(transaction, row, message) {
      const expireTime = readExpireTime(message.expireTime, transaction.org, expireTimeField);
      if (endsBefore(row.expire_time, expireTime)) await escalation.requireMayJoin(transaction, [row.group_id]);
      return { expire_time: expireTime };
    },

    revokes: (write) =>
      write.step === "update" && !endsBefore(write.after.expire_time, write.row.expire_time)
        ? []
        : [{ kind: "group", groupId: write.row.group_id, memberId: write.row.member_id }],

    mayLeaveNoOwner: ["update", "remove"],

    atPath([org, , member], patch, field) {
      const memberPath = formatReferences(patterns.Member, [required(org), required(member)]);
      requireSamePath(memberPath, patch.memberPath, `${field}.member_path`);
      return { ...patch, memberPath };
    },

    mapError(error, { memberPath }) {
      if (violatedConstraint(error) !== "group_members_pkey") return undefined;
      return new ServiceError("RESOURCE_EXISTS", `${memberPath} is already a member of this group`, { cause: error });
    },
  };
}

function joinedColumns(transaction: OrgTransaction, group: GroupRow, member: MemberRow) {
  return {
    ...joinedOrgColumns(transaction),
    group_name: group.name,
    member_name: member.name,
    display_name: member.display_name,
    type: member.type,
    state: member.state,
    member_delete_time: member.delete_time,
  };
}

const parseMemberPath = (text: string) => parseAnyPath([patterns.Member], text, memberPathField);

/** Finds the expired memberships of members in groups, together with the next statement. */
function findExpired(
  { db, org }: OrgTransaction,
  memberships: readonly { readonly group: GroupRow; readonly member: MemberRow }[],
): Later<readonly MembershipRow[]> {
  const groupIds = memberships.map(({ group }) => group.id);
  const memberIds = memberships.map(({ member }) => member.id);
  const isExpired = sql<boolean>`group_members.org_id = ${org.id} and group_members.expire_time <= ${org.lockTime}
    and (group_members.group_id, group_members.member_id) in (select * from unnest(${groupIds}::uuid[], ${memberIds}::uuid[]))`;
  return db.readWithNext(selectKeptMemberships(db).where(isExpired).compile());
}

/** Removes expired memberships, which are replaced as if they had been deleted. */
async function removeExpired(transaction: OrgTransaction, expired: readonly MembershipRow[]): Promise<void> {
  if (expired.length === 0) return;
  await removeWhere(transaction.db, membershipDefinition, transaction.org, isOneOf(membershipDefinition, expired));
  for (const row of expired) recordChange(transaction, membershipDefinition, row, null, row.expire_time);
}
