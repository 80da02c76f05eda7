// Invitations: an INVITED member, and a link with which its person accepts on pages of the sign-in.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type InviteMemberRequest,
  type InviteMemberResponse,
  InviteMemberResponseSchema,
  type Member,
  type MemberSchema,
  Member_Type,
  MembersService,
  type SendInvitationRequest,
  type SendInvitationResponse,
  SendInvitationResponseSchema,
} from "../../../gen/iam/v1alpha/member_pb.ts";
import { requireUnlimited } from "../../access/escalation/require-within.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { LockedOrg } from "../../changes/author.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { required } from "../../errors/required.ts";
import { deleted, invalidField } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ResourceDependencies, ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { writeRows } from "../../standard-methods/write/write-rows.ts";
import { createGroupJoins, noteInviter } from "../group-members/invited-groups.ts";
import { createSponsors } from "../group-members/sponsor.ts";
import { memberDefinition } from "./definition.ts";
import type { MailDependencies } from "../mails/mail-dependencies.ts";
import { type Issued, createDelivery } from "./deliver-invitation.ts";
import { maxInvitationSeconds } from "./invitation-links.ts";
import { memberPath, toMember } from "./message.ts";
import { requireOpenInvitation } from "./require-open-invitation.ts";
import type { MemberRow } from "./store.ts";

type ServedMembers = ServedResource<"members", MemberRow, typeof MemberSchema>;

const defaultSeconds = 7 * 86_400;

/** Creates the methods that invite a person, and send its link again. */
export function createInvitationMethods(served: ServedMembers, mails: MailDependencies) {
  const { reader, dependencies } = served;
  const { issue, deliver } = createDelivery(dependencies.database, mails);
  const inviteInto = createInviteInto(dependencies);

  const inviteMember = async (request: InviteMemberRequest, context: HandlerContext): Promise<InviteMemberResponse> => {
    const org = targetOf(context, patterns.Org);
    const member = required(request.member);
    const write = readWriteRequest(MembersService.method.inviteMember, request, context);
    let issued: Issued | undefined;
    const answer = await runWrite(dependencies, write, (call) =>
      writeRows(served, call, {
        locks: { org: org[0] },
        async prepare(transaction) {
          await requireUnlimited(transaction, "invite people");
          const resources = { parents: [org], messages: [toInvited(member, transaction.org)], checked: [] };
          return planCreation(served, transaction, resources, alone, async ([row]: readonly MemberRow[]) => {
            await inviteInto(transaction, required(row).id, request.groupPaths);
            const made = await issue(transaction, required(row));
            if (!request.validateOnly) issued = made;
            return create(InviteMemberResponseSchema, { member: toMember(required(row)) });
          });
        },
      }),
    );
    return deliver(answer, issued);
  };

  const sendInvitation = async (
    request: SendInvitationRequest,
    context: HandlerContext,
  ): Promise<SendInvitationResponse> => {
    const path = targetOf(context, patterns.Member);
    const write = readWriteRequest(MembersService.method.sendInvitation, request, context);
    let issued: Issued | undefined;
    const answer = await runWrite(dependencies, write, (call) =>
      runOpen(call, { org: path[0] }, async (transaction) => {
        const { db, org, revision, time } = transaction;
        const found = await reader.find(db, path);
        const row = await requireFound(served, transaction, found, path, request.etag);
        requireInvited(row, org);
        await requireUnlimited(transaction, "send invitations");
        await dependencies.escalation.requireMayActAs(transaction, row.id, null);
        const made = await issue(transaction, row);
        if (!request.validateOnly) issued = made;
        // The log says who has sent it.
        const change = { fields: memberDefinition.toMessage(row), columns: {} };
        const after = { ...row, ...(await updateRow({ db, org, revision, time }, memberDefinition, row, change)) };
        recordChange(transaction, memberDefinition, row, after);
        return create(SendInvitationResponseSchema, { member: toMember(after) });
      }),
    );
    return deliver(answer, issued);
  };

  return { inviteMember, sendInvitation };
}

type InviteInto = (transaction: OrgTransaction, memberId: string, groupPaths: readonly string[]) => Promise<void>;

/** Creates what invites a member into groups. */
function createInviteInto(dependencies: ResourceDependencies): InviteInto {
  const [sponsors, joins] = [createSponsors(dependencies), createGroupJoins(dependencies)];
  return async (transaction, memberId, groupPaths) => {
    const groups = await sponsors.findGroups(transaction, groupPaths, "group_paths");
    if (groups.length === 0) return;
    const { actorOrgId, actorId } = transaction.author;
    const inviter = { orgId: required(actorOrgId), memberId: required(actorId) };
    const ids = groups.map(({ id }) => id);
    await joins.join(transaction, memberId, ids, inviter);
    await noteInviter(transaction, memberId, inviter);
  };
}

/**
 * Returns the member that an invitation creates.
 *
 * @throws ServiceError FIELD_INVALID
 */
function toInvited(member: Member, { lockTime }: LockedOrg): Member {
  if (member.email === "") {
    throw invalidField("member.email", "must be set: the link is sent to it, and its person signs in with it", "email");
  }
  if (member.type === Member_Type.APPLICATION) {
    throw invalidField("member.type", "must be USER or unset: a program does not accept an invitation", "type");
  }
  const latest = secondsAfter(lockTime, maxInvitationSeconds);
  const wanted = member.invitationExpireTime;
  if (wanted !== undefined && Number(wanted.seconds) * 1000 > latest.getTime()) {
    const rule = `must be at most 30 days from now, so at most ${latest.toISOString()}`;
    throw invalidField("member.invitation_expire_time", rule, "invitation");
  }
  return { ...member, invitationExpireTime: wanted ?? timestampFromDate(secondsAfter(lockTime, defaultSeconds)) };
}

/** @throws ServiceError STATE_FORBIDS */
function requireInvited(row: MemberRow, org: LockedOrg): void {
  const path = memberPath(row);
  if (row.delete_time !== null) throw deleted("member", path);
  if (row.invitation_expire_time === null) {
    throw stateForbids(
      `the member ${path} is ${row.state}, so it has accepted already, or was never invited`,
      path,
      stateOf(row),
    );
  }
  if (row.email === null) {
    throw stateForbids(`the member ${path} has no address to invite: set its email first`, path, stateOf(row));
  }
  requireOpenInvitation(row, org);
}
