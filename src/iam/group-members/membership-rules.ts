import type { GroupMemberSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { sql } from "kysely";
import { keepOwner } from "../../access/escalation/keep-owner.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, deleted, notFound } from "../../errors/service-error.ts";
import { groupDefinition } from "../groups/definition.ts";
import { memberDefinition } from "../members/definition.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { endsBefore, readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import { required } from "../../errors/required.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
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

export function createMembershipRules({ readers, escalation, now }: ResourceDependencies): MembershipRules {
  const members = readers.readerOf(memberDefinition, memberDefinition.places[0]).lookup;
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, groupPath, messages, atItem) {
        const { db } = transaction;
        const paths = await mapItems(messages, atItem, ({ memberPath }) => {
          const path = parseResourcePath(patterns.Member, memberPath, memberPathField);
          requireSameOrg(transaction, path[0], memberPathField);
          return path;
        });
        const group = await findRow(db, groupDefinition, groupPath);
        if (group === undefined) throw notFound("group", formatReferences(patterns.Group, groupPath));
        await escalation.requireMayJoin(transaction, group.id);
        const found = await members.all(
          db,
          paths.map((path) => [orgReference(transaction), path[1]]),
        );
        const drafts = await mapItems(messages, atItem, (message, index) => {
          const member = found[index];
          const path = formatReferences(patterns.Member, paths[index] ?? []);
          if (member === undefined) throw notFound("member", path);
          if (member.delete_time !== null) throw deleted("member", path);
          const expireTime = readExpireTime(message.expireTime, now(), expireTimeField);
          return { columns: { group_id: group.id, member_id: member.id, expire_time: expireTime } };
        });
        const memberIds = drafts.map(({ columns }) => columns.member_id);
        await removeExpired(transaction, group.id, memberIds);
        return drafts;
      },
    },

    async change(transaction, row, message) {
      const expireTime = readExpireTime(message.expireTime, now(), expireTimeField);
      if (endsBefore(row.expire_time, expireTime)) await escalation.requireMayJoin(transaction, row.group_id);
      return { expire_time: expireTime };
    },

    revokes: (write) =>
      write.step === "update" && !endsBefore(write.after.expire_time, write.row.expire_time)
        ? []
        : [{ kind: "group", groupId: write.row.group_id, memberId: write.row.member_id }],

    guard: (transaction, _step, write) => keepOwner(transaction, write),

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

/** Removes expired memberships of these members, which are replaced as if they had been deleted. */
async function removeExpired(
  transaction: OrgTransaction,
  groupId: string,
  memberIds: readonly string[],
): Promise<void> {
  const { db, org } = transaction;
  const isExpired = sql<boolean>`group_members.org_id = ${org.id} and group_members.group_id = ${groupId}
    and group_members.member_id = any(${memberIds}::uuid[]) and group_members.expire_time <= now()`;
  const expired = await selectKeptMemberships(db).where(isExpired).execute();
  if (expired.length === 0) return;
  await removeWhere(db, membershipDefinition, isOneOf(membershipDefinition, expired));
  for (const row of expired) recordChange(transaction, membershipDefinition, row, null, row.expire_time);
}
