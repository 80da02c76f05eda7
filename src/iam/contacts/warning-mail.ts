// The mail with warnings: plain text. It has names in paths alone, which no mail program makes a link of, and one URL, that of the account in
// the console.
import { minuteOf } from "./confirmation-mail.ts";
import type { ContactParent } from "./parent.ts";
import type { DueWarning } from "./warning-kinds.ts";

/** What a mail says. */
export interface WarningText {
  readonly parent: Pick<ContactParent, "kind" | "name">;
  readonly contactName: string;
  readonly warnings: readonly DueWarning[];
  /** The URL of the service, without a path. */
  readonly issuer: string;
}

const accountPaths = {
  org: (name: string) => `/orgs/${name}/account`,
  customer: (name: string) => `/customers/${name}?tab=account`,
} as const;

/** Returns the subject and the text of a mail. */
export function writeWarnings({ parent, contactName, warnings, issuer }: WarningText): {
  readonly subject: string;
  readonly text: string;
} {
  const lines = [
    `The ${parent.kind} ${parent.name} at ${new URL(issuer).host}:`,
    "",
    ...warnings.map((warning) => `- ${describe(parent, warning)}`),
    "",
    `The account of the ${parent.kind}:`,
    "",
    `${issuer}/console${accountPaths[parent.kind](parent.name)}`,
    "",
    `This address is the contact ${contactName} of the ${parent.kind}. To get no more of these mails, ask an owner of the ${parent.kind} to delete the contact.`,
    "",
  ];
  return { subject: subjectOf(parent, warnings), text: lines.join("\n") };
}

function subjectOf({ kind, name }: WarningText["parent"], warnings: readonly DueWarning[]): string {
  const [first] = warnings;
  return warnings.length === 1 && first !== undefined
    ? `${name}: ${titles[first.kind](kind)}`
    : `${name}: ${warnings.length} warnings`;
}

/** How the title of a mail names an org: that of the contact, or one of those of its customer. */
const oneOf = { org: "the org", customer: "an org" } as const;

const titles: Readonly<Record<DueWarning["kind"], (of: ContactParent["kind"]) => string>> = {
  ACCESS_BEGUN: () => "access has begun without a decision",
  API_KEY_ENDS: () => "an API key ends",
  WEBHOOK_DISABLED: () => "a webhook is disabled",
  EVENT_STREAM_DISABLED: () => "an event stream is disabled",
  ORG_SUSPENDED: (of) => `${oneOf[of]} is suspended`,
  ORG_DELETED: (of) => `${oneOf[of]} is deleted`,
  CUSTOMER_DELETED: () => "the customer is deleted",
};

function describe(parent: WarningText["parent"], warning: DueWarning): string {
  const { kind, subject_name: name, member_name: member, occasion, end_time: end } = warning;
  const time = minuteOf(occasion);
  const org = parent.kind === "org" ? "The org" : `The org ${name}`;
  const restored = `Until ${end === null ? "it is purged" : minuteOf(end)} it can be restored; then it is removed for good.`;
  switch (kind) {
    case "ACCESS_BEGUN":
      return `The member ${name} began access in an emergency on ${time}, without a decision, until ${end === null ? "" : minuteOf(end)}. Who could have approved it can end it.`;
    case "API_KEY_ENDS":
      return `The API key ${name} of the member ${member ?? ""} ends on ${time}. Rotate it, or make another one.`;
    case "WEBHOOK_DISABLED":
      return `The webhook ${name} delivers nothing since ${time}. What waits is delivered when it is resumed.`;
    case "EVENT_STREAM_DISABLED":
      return `The event stream ${name} sends no signals since ${time}. What waits is sent when it is resumed.`;
    case "ORG_SUSPENDED":
      return `${org} is suspended since ${time}: it can be read, and nothing in it can be used.`;
    case "ORG_DELETED":
      return `${org} was deleted on ${time}. ${restored}`;
    case "CUSTOMER_DELETED":
      return `The customer was deleted on ${time}, with its orgs. ${restored}`;
  }
}
