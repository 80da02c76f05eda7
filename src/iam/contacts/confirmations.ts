// Whoever reads the mail of a contact confirms its address, with the secret of the link that was sent there. It is nobody whom the service
// knows, so the author in the log is the service, and the log does not say where the call came from.
import { serviceAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { parseSecretHandle } from "../../identity/secret-handle.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { voidLinks } from "../mails/mailed-links.ts";
import { contactDefinition } from "./definition.ts";
import { type OpenLink, contactLinks, readOpenLink } from "./link-store.ts";
import { toContact } from "./message.ts";
import { findContact } from "./store.ts";

export interface ContactConfirmations {
  /** Returns the contact of a secret; undefined for one with which nothing can be confirmed. */
  find(secret: string): Promise<OpenLink | undefined>;
  /** Confirms the address of a contact, and uses the secret up. @throws ServiceError GRANT_INVALID */
  confirm(secret: string): Promise<OpenLink>;
}

const author = serviceAuthor("tenantry/confirm-contact");

export function createContactConfirmations(database: Database): ContactConfirmations {
  const find: ContactConfirmations["find"] = async (secret) => {
    const handle = parseSecretHandle(secret);
    return handle && readOpenLink(database.reads, handle);
  };

  return {
    find,

    async confirm(secret) {
      const [handle, found] = [parseSecretHandle(secret), await find(secret)];
      if (handle === undefined || found === undefined) throw notOpen();
      const parent = { by: "id", value: found.key.id } as const;
      const locks = isLogOfCustomer(found.key) ? { logOfCustomer: parent } : { org: parent };
      return inTransaction(database, (db) =>
        writeInOrg(db, locks, author, async (transaction) => {
          const { org, revision, time } = transaction;
          // Again under the lock: another call may have used it up, or the address may be another one by now.
          const link = await readOpenLink(db, handle);
          const row = link && (await findContact(db, org, link.contact_id));
          if (link === undefined || row === undefined) throw notOpen();
          await voidLinks(transaction, contactLinks, [row.id]);
          const change = { fields: toContact(row), columns: { confirm_time: org.lockTime } };
          const after = await updateRow({ db, org, revision, time }, contactDefinition, row, change);
          recordChange(transaction, contactDefinition, row, { ...row, ...after });
          return link;
        }),
      );
    },
  };
}

function notOpen(): ServiceError {
  return new ServiceError("GRANT_INVALID", linkNotOpenText);
}

export const linkNotOpenText =
  "this link cannot be used: the address is confirmed already, the link has ended, a newer one was sent, or the contact was changed or deleted. Ask who sent it for another one";
