import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  ContactsService,
  type EraseContactRequest,
  type EraseContactResponse,
  EraseContactResponseSchema,
} from "../../../gen/iam/v1alpha/contact_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { References } from "../../paths/parse-path.ts";
import { isSamePattern, otherPatterns, patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { placeOfCall } from "../../standard-methods/place-of-call.ts";
import type { RowReader } from "../../standard-methods/read/row-reader.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { eraseFromLogs, requireInLog } from "../members/erase-from-logs.ts";
import { contactPath } from "./message.ts";
import type { ServedContacts } from "./send-confirmation.ts";
import type { ContactRow } from "./store.ts";

type ContactPath = References<typeof patterns.Contact>;

/** Creates the method that erases a deleted contact from the log of its org or customer. */
export function createEraseContact(served: ServedContacts) {
  return (request: EraseContactRequest, context: HandlerContext): Promise<EraseContactResponse> => {
    const { placed } = placeOfCall(served, context);
    const isOfCustomer = isSamePattern(placed.place.pattern, otherPatterns.customerContact);
    const pattern = isOfCustomer ? otherPatterns.customerContact : patterns.Contact;
    const path: ContactPath = targetOf(context, pattern);
    const write = readWriteRequest(ContactsService.method.eraseContact, request, context);
    return eraseFromLogs(placed.dependencies, write, {
      type: "Contact",
      pattern,
      locks: isOfCustomer ? { logOfCustomer: path[0] } : { org: path[0] },
      requireGone: async (transaction) => {
        await requireOpenParents(placed, transaction, [{ parent_customer_id: transaction.org.id }], alone);
        await requireDeleted(transaction, placed.reader, path);
        return requireInLog(transaction, { type: "Contact", pattern }, path, "deleted");
      },
      toAnswer: (changeCount) => create(EraseContactResponseSchema, { changeCount }),
    });
  };
}

/** @throws ServiceError STATE_FORBIDS for a contact that exists. */
async function requireDeleted({ db }: OrgTransaction, reader: RowReader<ContactRow>, path: ContactPath): Promise<void> {
  const row = await reader.find(db, path);
  if (row === undefined) return;
  throw stateForbids(`the contact ${contactPath(row)} exists: delete it first`, contactPath(row), "EXISTING");
}
