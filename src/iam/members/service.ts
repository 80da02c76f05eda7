import { randomUUID } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Member, type MemberSchema, MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Updateable } from "kysely";
import type { LockedOrg } from "../../changes/author.ts";
import type { Members } from "../../database/schema.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { endsBefore, readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { type Transition, stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules, RowWrite } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { memberDefinition } from "./definition.ts";
import { createEraseMember } from "./erase-member.ts";
import { type ImpersonationDependencies, createImpersonateMember } from "./impersonate-member.ts";
import { memberPath, toMemberColumnType } from "./message.ts";
import { expireSessions } from "../sessions/store.ts";
import { createRevokeTokens } from "./revoke-tokens.ts";
import type { MemberRow } from "./store.ts";

type MemberRules = ResourceRules<"members", MemberRow, typeof MemberSchema>;

const invitationField = "member.invitation_expire_time";

export function createMembersService(
  dependencies: ResourceDependencies & { readonly impersonation: ImpersonationDependencies },
): ServiceImpl<typeof MembersService> {
  const [place] = memberDefinition.places;
  const rules = createMemberRules(dependencies);
  const reader = dependencies.readers.readerOf(memberDefinition, place);
  const revokeTokens = createRevokeTokens({ definition: memberDefinition, place, rules, reader, dependencies });
  const impersonateMember = createImpersonateMember(dependencies.impersonation);
  const eraseMember = createEraseMember(dependencies);
  const handlers = createStandardHandlers(MembersService, dependencies, memberDefinition, rules);
  return completeService(MembersService, { ...handlers, revokeTokens, impersonateMember, eraseMember });
}

function createMemberRules({ installation }: ResourceDependencies): MemberRules {
  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parent, members, atItem) =>
        mapItems(members, atItem, (member) => {
          const expireTime = readExpireTime(member.invitationExpireTime, transaction.org, invitationField);
          return {
            columns: {
              type: toMemberColumnType(member.type),
              state: expireTime === null ? "ACTIVE" : "INVITED",
              invitation_expire_time: expireTime,
            },
            joined: joinedOrgColumns(transaction),
          };
        }),
    },
    async change({ org }, row, member) {
      return { invitation_expire_time: readInvitation(row, member, org) };
    },
    revokes: (write) => (takesAccess(write) ? [{ kind: "member", memberId: write.row.id }] : []),
    async beforeTransition(transaction, row, transition) {
      if (row.id === installation.operatorId) throw operatorProtected();
      if (transition === "suspend" || transition === "delete") expireSessions(transaction, row.id);
      if (transition === "activate" || transition === "undelete") requireOpenInvitation(row, transaction.org);
    },
    transitionColumns,
    mayLeaveNoOwner: ["delete", "suspend"],
  };
}

/** A member that is activated or undeleted does not get its old tokens back. */
function transitionColumns(transition: Transition): Updateable<Members> | undefined {
  switch (transition) {
    case "activate":
      return { invitation_expire_time: null };
    case "suspend":
    case "delete":
      return { token_gen: randomUUID() };
    case "undelete":
    case "purge":
      return undefined;
  }
}

/** Reports whether a write ends the access of a member, its invitation earlier, or the chance to restore the member. */
function takesAccess(write: RowWrite<MemberRow>): boolean {
  switch (write.step) {
    case "update":
      return endsBefore(write.after.invitation_expire_time, write.row.invitation_expire_time);
    case "suspend":
    case "delete":
    case "purge":
    case "remove":
      return true;
    case "activate":
    case "undelete":
      return false;
  }
}

/**
 * Returns when the invitation expires after an update; null for a member that is not invited.
 *
 * @throws ServiceError FIELD_INVALID for a time in the past, or for a Member that has accepted.
 */
function readInvitation(row: MemberRow, member: Member, org: LockedOrg): Date | null {
  const current = row.invitation_expire_time;
  const wanted = member.invitationExpireTime;
  if (wanted === undefined || timestampDate(wanted).getTime() === current?.getTime()) return current;
  if (current === null) throw invalidField(invitationField, `must be unset: the member is ${row.state}`, "invitation");
  return readExpireTime(wanted, org, invitationField);
}

/** A member that was undeleted with an invitation that has expired would be deleted again at once. */
function requireOpenInvitation(row: MemberRow, { lockTime }: LockedOrg): void {
  if (row.invitation_expire_time === null || row.invitation_expire_time > lockTime) return;
  const path = memberPath(row);
  const [time, state] = [row.invitation_expire_time.toISOString(), stateOf(row)];
  const next = row.delete_time === null ? "set a later invitation_expire_time first" : "create another Member instead";
  const message = `the member ${path} is ${state}, and its invitation expired at ${time}, its invitation_expire_time: ${next}`;
  throw stateForbids(message, path, state);
}

function operatorProtected(): ServiceError {
  const message = "the installation's operator cannot be deleted or suspended";
  return new ServiceError("OPERATOR_PROTECTED", message);
}
