// How the link of an invitation reaches its person: it is made under the lock of the org, and sent after the commit, so that no lock waits for a mail
// server, and none goes out for a member that is not there.
import type { InviteMemberResponse, SendInvitationResponse } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { required } from "../../errors/required.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { MailDependencies } from "../mails/mail-dependencies.ts";
import { requireMayMail } from "../mails/mail-limits.ts";
import { insertLink, noteLinkSent } from "../mails/mailed-links.ts";
import { writeInvitation } from "./invitation-mail.ts";
import { invitationLinks } from "./invitation-links.ts";
import { memberPath } from "./message.ts";
import { readNames } from "./read-names.ts";
import type { MemberRow } from "./store.ts";

/** A link that is to reach its person when the write is committed. */
export interface Issued {
  readonly org: OrgKey;
  readonly id: string;
  readonly link: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

type Answer = InviteMemberResponse | SendInvitationResponse;

interface Delivery {
  /** Makes a link for a member under the lock of its org. @throws ServiceError RATE_LIMITED */
  readonly issue: (transaction: OrgTransaction, row: MemberRow) => Promise<Issued>;
  /** Sends a link, and completes the answer. There is none for a request that repeats another, or only validates. */
  readonly deliver: <Answered extends Answer>(answer: Answered, issued: Issued | undefined) => Promise<Answered>;
}

export function createDelivery(
  { writes }: Pick<Database, "writes">,
  { mailer, issuer, mailsPerHour }: MailDependencies,
): Delivery {
  return {
    async issue(transaction, row) {
      const { org, db, author } = transaction;
      const [to, expireTime] = [required(row.email), required(row.invitation_expire_time)];
      if (mailer !== undefined) await requireMayMail(transaction, invitationLinks, to, mailsPerHour);
      const { id, secret } = await insertLink(
        transaction,
        invitationLinks,
        { id: row.id, email: to },
        mailer !== undefined,
      );
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
      await noteLinkSent(writes, invitationLinks, org, id);
      return { ...answer, mailSent: true };
    },
  };
}
