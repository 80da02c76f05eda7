// The job that warns confirmed contacts of orgs. Every server that sends mail runs it; a warning that one has taken, no other sends.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { MailDependencies } from "../iam/mails/mail-dependencies.ts";
import { writeWarnings } from "../iam/contacts/warning-mail.ts";
import { type WarnedOrg, noteWarningsSent, readWarnedOrgs, takeDueWarnings } from "../iam/contacts/warning-store.ts";
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
const orgsPerRead = 200;

const failed = "failed to warn the contacts of an org; trying again in the next run";

/** A run returns how many mails were sent. */
export function createWarningsJob(options: WarningsJobOptions): Repetition<number> {
  const { database, mailer, issuer, intervalMs = defaultIntervalMs, logger } = options;

  const warn = async (org: WarnedOrg, signal: AbortSignal): Promise<number> => {
    const taken = await takeDueWarnings(database.writes, org);
    let sent = 0;
    for (const warnings of Map.groupBy(taken, (each) => each.contact_id).values()) {
      const [first] = warnings;
      if (first === undefined || signal.aborted) break;
      const { email: to, contact_name: contactName } = first;
      const mail = writeWarnings({ orgName: org.name, contactName, warnings, issuer: issuer() });
      if ((await mailer.send(org.id, { to, ...mail })) !== undefined) continue;
      await noteWarningsSent(database.writes, org, warnings);
      sent++;
    }
    return sent;
  };

  const run = async (signal: AbortSignal): Promise<number> => {
    let sent = 0;
    let afterId: string | undefined;
    for (;;) {
      const orgs = await readWarnedOrgs(database.reads, afterId, orgsPerRead);
      for (const org of orgs) {
        if (signal.aborted) return sent;
        try {
          sent += await warn(org, signal);
        } catch (err) {
          logger.error({ err, orgId: org.id }, failed);
        }
      }
      if (orgs.length < orgsPerRead) return sent;
      afterId = orgs.at(-1)?.id;
    }
  };
  return repeat(run, { intervalMs, onError: (err) => logger.error({ err }, failed) });
}
