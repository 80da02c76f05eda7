// The settings of the mail server that sends invitations, and to contacts.
import type { MailSettings } from "./identity/outgoing/mailer.ts";
import { ConfigError } from "./read-settings.ts";
import { integer, mailAddress, smtpUrl } from "./setting-types.ts";

export const mailSettings = {
  TENANTRY_SMTP_URL: smtpUrl({
    default: undefined,
    desc: "The mail server that sends invitations, confirmations and warnings, as smtp://user:password@host:587, with STARTTLS, or smtps://user:password@host:465. If unset, who invites or names a contact gets the link, and no warnings are sent.",
  }),
  TENANTRY_SMTP_FROM: mailAddress({
    default: undefined,
    desc: "The address from which mails are sent, such as iam@example.com. Required with TENANTRY_SMTP_URL.",
  }),
  TENANTRY_INVITATION_MAILS_PER_HOUR: integer(1, 10_000, {
    default: 100,
    desc: "Maximum mails with invitations that an org sends in an hour, and of those that confirm contacts of an org or a customer.",
  }),
};

export interface MailConfig {
  /** Undefined for a service that sends no mail. */
  readonly mail: MailSettings | undefined;
  /** The maximum number of mails of an org or a customer in an hour. */
  readonly invitationMailsPerHour: number;
}

interface MailEnvironment {
  readonly TENANTRY_SMTP_URL: string | undefined;
  readonly TENANTRY_SMTP_FROM: string | undefined;
  readonly TENANTRY_INVITATION_MAILS_PER_HOUR: number;
}

/** @throws ConfigError when only one of the mail server and the sender is set. */
export function readMailConfig({
  TENANTRY_SMTP_URL: url,
  TENANTRY_SMTP_FROM: from,
  TENANTRY_INVITATION_MAILS_PER_HOUR: invitationMailsPerHour,
}: MailEnvironment): MailConfig {
  if (url === undefined && from === undefined) return { mail: undefined, invitationMailsPerHour };
  if (url === undefined) {
    throw new ConfigError("TENANTRY_SMTP_URL must be set with TENANTRY_SMTP_FROM: smtp://user:password@host:587");
  }
  if (from === undefined) {
    throw new ConfigError("TENANTRY_SMTP_FROM must be set with TENANTRY_SMTP_URL: an address such as iam@example.com");
  }
  return { mail: { url, from }, invitationMailsPerHour };
}
