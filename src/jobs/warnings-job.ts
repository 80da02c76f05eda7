// The job that warns confirmed contacts of orgs and customers. Every server that sends mail runs it; a warning that one has taken, no other sends.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { isLogOfCustomer } from "../database/org-key.ts";
import type { MailDependencies } from "../iam/mails/mail-dependencies.ts";
import { writeWarnings } from "../iam/contacts/warning-mail.ts";
import {
  type WarnedParent,
  noteWarningsSent,
  readWarnedParents,
  takeDueWarnings,
} from "../iam/contacts/warning-store.ts";
import type { Mailer } from "../identity/outgoing/mailer.ts";
import { type Repetition, repeat } from "../timers/repeat.ts";

interface WarningsJobOptions {
  readonly database: Pick<Database, "reads" | "writes">;
  readonly mailer: Pick<Mailer, "send">;
  readonly issuer: MailDependencies["issuer"];
  readonly intervalMs?: number;
  readonly logger: Logger;
}

const defaultIntervalMs = 300_000;
const perRead = 200;

const failed = "failed to warn the contacts of an org or a customer; trying again in the next run";

/** A run returns how many mails were sent. */
export function createWarningsJob(options: WarningsJobOptions): Repetition<number> {
  const { database, mailer, issuer, intervalMs = defaultIntervalMs, logger } = options;

  const warn = async (parent: WarnedParent, signal: AbortSignal): Promise<number> => {
    const taken = await takeDueWarnings(database.writes, parent);
    const kind = isLogOfCustomer(parent) ? "customer" : "org";
    let sent = 0;
    // A contact may have another address than when something was to be told it.
    for (const warnings of Map.groupBy(taken, (each) => `${each.contact_id} ${each.email}`).values()) {
      const [first] = warnings;
      if (first === undefined || signal.aborted) break;
      const { email: to, contact_name: contactName } = first;
      const mail = writeWarnings({ parent: { kind, name: parent.name }, contactName, warnings, issuer: issuer() });
      if ((await mailer.send(parent.id, { to, ...mail })) !== undefined) continue;
      await noteWarningsSent(database.writes, parent, warnings);
      sent++;
    }
    return sent;
  };

  const run = async (signal: AbortSignal): Promise<number> => {
    let sent = 0;
    let afterId: string | undefined;
    for (;;) {
      const parents = await readWarnedParents(database.reads, afterId, perRead);
      for (const parent of parents.filter((each) => each.may_warn)) {
        if (signal.aborted) return sent;
        try {
          sent += await warn(parent, signal);
        } catch (err) {
          logger.error({ err, parentId: parent.id }, failed);
        }
      }
      if (parents.length < perRead) return sent;
      afterId = parents.at(-1)?.id;
    }
  };
  return repeat(run, { intervalMs, onError: (err) => logger.error({ err }, failed) });
}
