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
import { patterns } from "../../paths/patterns.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { eraseFromLogs, requireInLog } from "../members/erase-from-logs.ts";
import { contactDefinition } from "./definition.ts";
import { contactPath } from "./message.ts";

const erased = { type: "Contact", pattern: patterns.Contact } as const;

/** Creates the method that erases a deleted contact from the log of its org. */
export function createEraseContact(dependencies: ResourceDependencies) {
  return (request: EraseContactRequest, context: HandlerContext): Promise<EraseContactResponse> => {
    const path = targetOf(context, patterns.Contact);
    return eraseFromLogs(dependencies, readWriteRequest(ContactsService.method.eraseContact, request, context), {
      ...erased,
      org: path[0],
      requireGone: (transaction) => requireGone(transaction, path),
      toAnswer: (changeCount) => create(EraseContactResponseSchema, { changeCount }),
    });
  };
}

/**
 * Returns the id of a contact that no longer exists.
 *
 * @throws ServiceError FIELD_INVALID for a name, STATE_FORBIDS for a contact that exists, RESOURCE_NOT_FOUND for one that never was, or of
 *   which the log has nothing.
 */
async function requireGone(transaction: OrgTransaction, path: References<typeof patterns.Contact>): Promise<string> {
  const row = await findRow(transaction.db, contactDefinition, path);
  if (row !== undefined) {
    throw stateForbids(`the contact ${contactPath(row)} exists: delete it first`, contactPath(row), "EXISTING");
  }
  return requireInLog(transaction, erased, path, "deleted");
}
