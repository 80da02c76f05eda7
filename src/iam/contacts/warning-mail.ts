// The mail with warnings: plain text. It has names in paths alone, which no mail program makes a link of, and one URL, that of the account in
// the console.
import { minuteOf } from "./confirmation-mail.ts";
import type { DueWarning } from "./warning-store.ts";

/** What a mail says. */
export interface WarningText {
  readonly orgName: string;
  readonly contactName: string;
  readonly warnings: readonly DueWarning[];
  /** The URL of the service, without a path. */
  readonly issuer: string;
}

/** Returns the subject and the text of a mail. */
export function writeWarnings({ orgName, contactName, warnings, issuer }: WarningText): {
  readonly subject: string;
  readonly text: string;
} {
  const lines = [
    `The org ${orgName} at ${new URL(issuer).host}:`,
    "",
    ...warnings.map((warning) => `- ${describe(warning)}`),
    "",
    "The account of the org:",
    "",
    `${issuer}/console/orgs/${orgName}/account`,
    "",
    `This address is the contact ${contactName} of the org. To get no more of these mails, ask an owner of the org to delete the contact.`,
    "",
  ];
  return { subject: subjectOf(orgName, warnings), text: lines.join("\n") };
}

function subjectOf(orgName: string, warnings: readonly DueWarning[]): string {
  const [first] = warnings;
  return warnings.length === 1 && first !== undefined
    ? `${orgName}: ${titles[first.kind]}`
    : `${orgName}: ${warnings.length} warnings`;
}

const titles: Readonly<Record<DueWarning["kind"], string>> = {
  API_KEY_ENDS: "an API key ends",
  WEBHOOK_DISABLED: "a webhook is disabled",
  EVENT_STREAM_DISABLED: "an event stream is disabled",
  ORG_SUSPENDED: "the org is suspended",
  ORG_DELETED: "the org is deleted",
};

function describe({ kind, subject_name: name, member_name: member, occasion, end_time: end }: DueWarning): string {
  const time = minuteOf(occasion);
  switch (kind) {
    case "API_KEY_ENDS":
      return `The API key ${name} of the member ${member ?? ""} ends on ${time}. Rotate it, or make another one.`;
    case "WEBHOOK_DISABLED":
      return `The webhook ${name} delivers nothing since ${time}. What waits is delivered when it is resumed.`;
    case "EVENT_STREAM_DISABLED":
      return `The event stream ${name} sends no signals since ${time}. What waits is sent when it is resumed.`;
    case "ORG_SUSPENDED":
      return `The org is suspended since ${time}: it can be read, and nothing in it can be used.`;
    case "ORG_DELETED":
      return `The org was deleted on ${time}. Until ${end === null ? "it is purged" : minuteOf(end)} it can be restored; then it is removed for good.`;
  }
}
