// The link that confirms a contact: it is made under the lock of its org or customer, and sent after the commit, so that no lock waits for a mail server.
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ContactSchema,
  ContactsService,
  type SendConfirmationRequest,
  type SendConfirmationResponse,
  SendConfirmationResponseSchema,
} from "../../../gen/iam/v1alpha/contact_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { secondsAfter } from "../../database/clock.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { placeOfCall } from "../../standard-methods/place-of-call.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { locksOf, runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import type { MailDependencies } from "../mails/mail-dependencies.ts";
import { requireMayMail } from "../mails/mail-limits.ts";
import { insertLink, noteLinkSent } from "../mails/mailed-links.ts";
import { writeConfirmation } from "./confirmation-mail.ts";
import { contactDefinition } from "./definition.ts";
import { contactLinks, linkSeconds } from "./link-store.ts";
import { contactPath, toContact } from "./message.ts";
import { readParent } from "./parent.ts";
import type { ContactRow } from "./store.ts";

/** Contacts in each of their places. */
export type ServedContacts = readonly ServedResource<"contacts", ContactRow, typeof ContactSchema>[];

/** A link that is to go out when the write is committed. */
interface Issued {
  readonly org: OrgKey;
  readonly id: string;
  readonly link: string;
  readonly mail: { readonly to: string; readonly subject: string; readonly text: string };
}

export function createSendConfirmation(
  served: ServedContacts,
  { mailer, issuer, mailsPerHour }: MailDependencies,
  { writes }: Pick<Database, "writes">,
) {
  const issue = async (transaction: OrgTransaction, row: ContactRow): Promise<Issued> => {
    const { org } = transaction;
    if (mailer !== undefined) await requireMayMail(transaction, contactLinks, row.email, mailsPerHour);
    const { id, secret } = await insertLink(transaction, contactLinks, row, mailer !== undefined);
    const link = `${issuer()}/sign-in/contact#${secret}`;
    const parent = await readParent(transaction);
    const expireTime = secondsAfter(org.lockTime, linkSeconds);
    const text = writeConfirmation({ parent, kinds: row.kinds, link, expireTime });
    return { org: { customer_id: org.customer_id, id: org.id }, id, link, mail: { to: row.email, ...text } };
  };

  /** Sends a link, and completes the answer. There is none for a request that repeats another, or only validates. */
  const deliver = async (
    answer: SendConfirmationResponse,
    issued: Issued | undefined,
  ): Promise<SendConfirmationResponse> => {
    if (issued === undefined) return answer;
    if (mailer === undefined) return { ...answer, link: issued.link, mailProblem: "the service sends no mail" };
    const problem = await mailer.send(issued.org.id, issued.mail);
    // The link stays secret: otherwise an address could be confirmed whose mail server takes nothing at the moment.
    if (problem !== undefined) return { ...answer, mailProblem: problem };
    await noteLinkSent(writes, contactLinks, issued.org, issued.id);
    return { ...answer, mailSent: true };
  };

  return async (request: SendConfirmationRequest, context: HandlerContext): Promise<SendConfirmationResponse> => {
    const { placed, path } = placeOfCall(served, context);
    const { reader, rules, dependencies } = placed;
    const write = readWriteRequest(ContactsService.method.sendConfirmation, request, context);
    let issued: Issued | undefined;
    const answer = await runWrite(dependencies, write, async (call) =>
      runOpen(call, await locksOf(rules.scope, call.db, path), async (transaction) => {
        const { db, org, revision, time } = transaction;
        const row = await requireFound(placed, transaction, await reader.find(db, path), path, request.etag);
        await requireOpenParents(placed, transaction, [row], alone);
        requireUnconfirmed(row);
        const made = await issue(transaction, row);
        if (!request.validateOnly) issued = made;
        // The log says who has sent it.
        const change = { fields: toContact(row), columns: {} };
        const after = { ...row, ...(await updateRow({ db, org, revision, time }, contactDefinition, row, change)) };
        recordChange(transaction, contactDefinition, row, after);
        return create(SendConfirmationResponseSchema, { contact: toContact(after) });
      }),
    );
    return deliver(answer, issued);
  };
}

/** @throws ServiceError STATE_FORBIDS */
function requireUnconfirmed(row: ContactRow): void {
  if (row.confirm_time === null) return;
  const path = contactPath(row);
  const message = `the address of the contact ${path} is confirmed since ${row.confirm_time.toISOString()}: there is nothing to send`;
  throw stateForbids(message, path, "CONFIRMED");
}
