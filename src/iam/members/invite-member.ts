// Invitations: an INVITED member, and a link with which its person accepts on pages of the sign-in. A mail is sent after the commit, so that
// no lock waits for a mail server, and none goes out for a member that is not there.
import { type Message, create } from "@bufbuild/protobuf";
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
import type { OrgKey } from "../../database/org-key.ts";
import { required } from "../../errors/required.ts";
import { deleted, invalidField } from "../../errors/service-error.ts";
import type { Mailer } from "../../identity/outgoing/mailer.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { writeRows } from "../../standard-methods/write/write-rows.ts";
import { memberDefinition } from "./definition.ts";
import { writeInvitation } from "./invitation-mail.ts";
import { insertInvitation, maxInvitationSeconds, noteMailSent, requireMayMail } from "./invitation-store.ts";
import { memberPath, toMember } from "./message.ts";
import { readNames } from "./read-names.ts";
import { requireOpenInvitation } from "./require-open-invitation.ts";
import type { MemberRow } from "./store.ts";

type ServedMembers = ServedResource<"members", MemberRow, typeof MemberSchema>;

export interface InvitationDependencies {
  /** Undefined if the service sends no mail. */
  readonly mailer: Mailer | undefined;
  /** The URL of the service, without a path. */
  readonly issuer: () => string;
  /** The maximum number of mails of an org in an hour. */
  readonly mailsPerHour: number;
}

/** A link that is to reach its person when the write is committed. */
interface Issued {
  readonly org: OrgKey;
  readonly id: string;
  readonly link: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const defaultSeconds = 7 * 86_400;

type Answer = (InviteMemberResponse | SendInvitationResponse) & Message;

/** Creates the methods that invite a person, and send its link again. */
export function createInvitations(served: ServedMembers, invitations: InvitationDependencies) {
  const { reader, dependencies } = served;
  const { mailer, mailsPerHour } = invitations;

  /** Makes a link for a member under the lock of its org. */
  const issue = async (transaction: OrgTransaction, row: MemberRow): Promise<Issued> => {
    const { org, db, author } = transaction;
    const [to, expireTime] = [required(row.email), required(row.invitation_expire_time)];
    if (mailer !== undefined) await requireMayMail(transaction, to, mailsPerHour);
    const { id, secret } = await insertInvitation(transaction, { id: row.id, email: to }, mailer !== undefined);
    const link = `${invitations.issuer()}/sign-in/invitation#${secret}`;
    const names = await readNames(db, org, author);
    const orgPath = formatPath(patterns.Org, pathName(org));
    const mail = writeInvitation({ ...names, orgPath, memberPath: memberPath(row), expireTime, link });
    return { org: { customer_id: org.customer_id, id: org.id }, id, link, to, ...mail };
  };

  /** Sends the link, and completes the answer. There is none for a request that repeats another, or only validates. */
  const deliver = async <Answered extends Answer>(answer: Answered, issued: Issued | undefined): Promise<Answered> => {
    if (issued === undefined) return answer;
    const { org, id, link, to, subject, text } = issued;
    if (mailer === undefined) return { ...answer, link, mailProblem: "the service sends no mail" };
    const problem = await mailer.send(org.id, { to, subject, text });
    if (problem !== undefined) return { ...answer, link, mailProblem: problem };
    await noteMailSent(dependencies.database.writes, org, id);
    return { ...answer, mailSent: true };
  };

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
