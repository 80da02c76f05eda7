import type { Mailer } from "../../identity/outgoing/mailer.ts";

/** What sends mails for orgs. */
export interface MailDependencies {
  /** Undefined if the service sends no mail. */
  readonly mailer: Mailer | undefined;
  /** The URL of the service, without a path. */
  readonly issuer: () => string;
  /** The maximum number of mails of an org or a customer in an hour, of each kind. */
  readonly mailsPerHour: number;
}
