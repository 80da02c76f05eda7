import { randomUUID } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Member, type MemberSchema, MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Updateable } from "kysely";
import type { LockedOrg } from "../../changes/author.ts";
import { violatedConstraint } from "../../database/failure.ts";
import type { Members } from "../../database/schema.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { endsBefore, readExpireTime } from "../../standard-methods/write/expire-time.ts";
import type { Transition } from "../../standard-methods/definition/lifecycle.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules, RowWrite } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { leaveUnsponsored } from "../group-members/invited-groups.ts";
import { createSponsors } from "../group-members/sponsor.ts";
import { memberDefinition } from "./definition.ts";
import { readEmail } from "./email.ts";
import { createEraseMember } from "./erase-member.ts";
import { type ImpersonationDependencies, createImpersonateMember } from "./impersonate-member.ts";
import type { MailDependencies } from "../mails/mail-dependencies.ts";
import { voidLinks } from "../mails/mailed-links.ts";
import { createInvitationMethods } from "./invite-member.ts";
import { foldEmail } from "../../validation/email-address.ts";
import { invitationLinks } from "./invitation-links.ts";
import { toMemberColumnType } from "./message.ts";
import { requireOpenInvitation } from "./require-open-invitation.ts";
import { expireSessions } from "../sessions/store.ts";
import { createRevokeTokens } from "./revoke-tokens.ts";
import type { MemberRow } from "./store.ts";

type MemberRules = ResourceRules<"members", MemberRow, typeof MemberSchema>;

const invitationField = "member.invitation_expire_time";
const emailField = "member.email";

export function createMembersService(
  dependencies: ResourceDependencies & {
    readonly impersonation: ImpersonationDependencies;
    readonly mails: MailDependencies;
  },
): ServiceImpl<typeof MembersService> {
  const [place] = memberDefinition.places;
  const rules = createMemberRules(dependencies);
  const reader = dependencies.readers.readerOf(memberDefinition, place);
  const served = { definition: memberDefinition, place, rules, reader, dependencies };
  const revokeTokens = createRevokeTokens(served);
  const invitations = createInvitationMethods(served, dependencies.mails);
  const impersonateMember = createImpersonateMember(dependencies.impersonation, dependencies.escalation);
  const eraseMember = createEraseMember(dependencies);
  const handlers = createStandardHandlers(MembersService, dependencies, memberDefinition, rules);
  return completeService(MembersService, { ...handlers, ...invitations, revokeTokens, impersonateMember, eraseMember });
}

function createMemberRules(dependencies: ResourceDependencies): MemberRules {
  const { installation } = dependencies;
  const sponsors = createSponsors(dependencies);
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
              email: readEmail(member.email, emailField),
            },
            joined: joinedOrgColumns(transaction),
          };
        }),
    },
    async change(transaction, row, member) {
      const email = readEmail(member.email, emailField);
      // For good: a link that waits for its address to come back would be somebody else's by then.
      if (row.state === "INVITED" && foldEmail(email ?? "") !== foldEmail(row.email ?? "")) {
        await voidLinks(transaction, invitationLinks, [row.id]);
      }
      return { invitation_expire_time: readInvitation(row, member, transaction.org), email };
    },
    revokes: (write) => (takesAccess(write) ? [{ kind: "member", memberId: write.row.id }] : []),
    async beforeTransition(transaction, row, transition) {
      if (row.id === installation.operatorId) throw operatorProtected();
      if (transition === "suspend" || transition === "delete") expireSessions(transaction, row.id);
      if (transition === "activate" || transition === "undelete") requireOpenInvitation(row, transaction.org);
      // As when its person accepts: whoever activates it does not vouch for the groups.
      if (transition === "activate" && row.invitation_expire_time !== null) {
        await leaveUnsponsored(transaction, dependencies, sponsors, row.id);
      }
      // Who was deleted before accepting is sent another link, if at all.
      if (transition === "undelete" && row.state === "INVITED") await voidLinks(transaction, invitationLinks, [row.id]);
    },
    transitionColumns,
    mapError: (error, { email }) => explainAddressTaken(error, email),
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

/** The caller may list the members, or is told by somebody who may. */
function explainAddressTaken(error: unknown, email: string): ServiceError | undefined {
  if (violatedConstraint(error) !== "members_email_key") return undefined;
  const message = `a member of this org has the address ${email} already; a list of members with the filter email = "${email}" shows it`;
  return new ServiceError("RESOURCE_EXISTS", message, { metadata: { email }, cause: error });
}

function operatorProtected(): ServiceError {
  const message = "the installation's operator cannot be deleted or suspended";
  return new ServiceError("OPERATOR_PROTECTED", message);
}
