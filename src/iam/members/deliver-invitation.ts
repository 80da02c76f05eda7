// How the link of an invitation reaches its person: it is made under the lock of the org, and sent after the commit, so that no lock waits for a mail
// server, and none goes out for a member that is not there.
import type { InviteMemberResponse, SendInvitationResponse } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { required } from "../../errors/required.ts";
import type { Mailer } from "../../identity/outgoing/mailer.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { writeInvitation } from "./invitation-mail.ts";
import { insertInvitation, noteMailSent } from "./invitation-store.ts";
import { type CountedMails, requireMayMail } from "./mail-limits.ts";
import { memberPath } from "./message.ts";
import { readNames } from "./read-names.ts";
import type { MemberRow } from "./store.ts";

export interface InvitationDependencies {
  /** Undefined if the service sends no mail. */
  readonly mailer: Mailer | undefined;
  /** The URL of the service, without a path. */
  readonly issuer: () => string;
  /** The maximum number of mails of an org in an hour. */
  readonly mailsPerHour: number;
}

/** A link that is to reach its person when the write is committed. */
export interface Issued {
  readonly org: OrgKey;
  readonly id: string;
  readonly link: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const counted: CountedMails = { table: "invitations", called: "invitations" };

type Answer = InviteMemberResponse | SendInvitationResponse;

interface Delivery {
  /** Makes a link for a member under the lock of its org. @throws ServiceError RATE_LIMITED */
  readonly issue: (transaction: OrgTransaction, row: MemberRow) => Promise<Issued>;
  /** Sends a link, and completes the answer. There is none for a request that repeats another, or only validates. */
  readonly deliver: <Answered extends Answer>(answer: Answered, issued: Issued | undefined) => Promise<Answered>;
}

export function createDelivery(
  { writes }: Pick<Database, "writes">,
  { mailer, issuer, mailsPerHour }: InvitationDependencies,
): Delivery {
  return {
    async issue(transaction, row) {
      const { org, db, author } = transaction;
      const [to, expireTime] = [required(row.email), required(row.invitation_expire_time)];
      if (mailer !== undefined) await requireMayMail(transaction, counted, to, mailsPerHour);
      const { id, secret } = await insertInvitation(transaction, { id: row.id, email: to }, mailer !== undefined);
      const link = `${issuer()}/sign-in/invitation#${secret}`;
      const names = await readNames(db, org, author);
      const orgPath = formatPath(patterns.Org, pathName(org));
      const mail = writeInvitation({ ...names, orgPath, memberPath: memberPath(row), expireTime, link });
      return { org: { customer_id: org.customer_id, id: org.id }, id, link, to, ...mail };
    },

    async deliver(answer, issued) {
      if (issued === undefined) return answer;
      const { org, id, link, to, subject, text } = issued;
      if (mailer === undefined) return { ...answer, link, mailProblem: "the service sends no mail" };
      const problem = await mailer.send(org.id, { to, subject, text });
      if (problem !== undefined) return { ...answer, link, mailProblem: problem };
      await noteMailSent(writes, org, id);
      return { ...answer, mailSent: true };
    },
  };
}
