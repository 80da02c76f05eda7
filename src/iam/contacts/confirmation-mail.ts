// The mail that asks somebody to confirm an address: plain text, whose only URL is the link.
import { harmlessName } from "../mails/harmless-name.ts";
import type { ContactKind } from "../../database/contact-tables.ts";
import type { ContactParent } from "./parent.ts";

/** What a mail says. */
export interface ConfirmationText {
  readonly parent: ContactParent;
  readonly kinds: readonly ContactKind[];
  readonly link: string;
  readonly expireTime: Date;
}

/** Returns the subject and the text of a mail. */
export function writeConfirmation(text: ConfirmationText): { readonly subject: string; readonly text: string } {
  const { parent, kinds, link, expireTime } = text;
  const shown = harmlessName(parent.displayName) ?? parent.name;
  const lines = [
    `${shown} names this address as its contact at ${new URL(link).host}.`,
    "",
    `The ${parent.kind} is ${parent.name}. It would be sent warnings about: ${describeKinds(kinds)}.`,
    "",
    "If you want them, open this link and confirm the address:",
    "",
    link,
    "",
    `The link works once, until ${minuteOf(expireTime)}.`,
    `If you do not know the ${parent.kind}, ignore this. Then it sends no warnings here.`,
    "",
  ];
  return { subject: `Confirm the contact of ${shown}`, text: lines.join("\n") };
}

const kindTexts: Readonly<Record<ContactKind, string>> = {
  BILLING: "billing",
  SECURITY: "security",
  TECHNICAL: "technical matters",
};

export const describeKinds = (kinds: readonly ContactKind[]): string => kinds.map((kind) => kindTexts[kind]).join(", ");

/** `2029-12-31 at 23:59 UTC` */
export const minuteOf = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " at ")} UTC`;
