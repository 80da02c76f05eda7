// The mail with the link of an invitation: plain text, whose only URL is that of this service. What people chose, such as the names of an org,
// is shown only where no mail program makes a link of it.
import { harmlessName } from "../mails/harmless-name.ts";

/** What an invitation says. */
export interface InvitationText {
  /** `/orgs/acme` */
  readonly orgPath: string;
  readonly orgDisplayName: string;
  /** `/orgs/acme/members/alice` */
  readonly memberPath: string;
  /** The display name of who invites; empty for the service itself. */
  readonly inviterDisplayName: string;
  readonly expireTime: Date;
  readonly link: string;
}

/** Returns the subject and the text of a mail. */
export function writeInvitation(text: InvitationText): { readonly subject: string; readonly text: string } {
  const orgName = lastOf(text.orgPath);
  const org = harmlessName(text.orgDisplayName) ?? orgName;
  const inviter = harmlessName(text.inviterDisplayName);
  const host = new URL(text.link).host;
  const lines = [
    `${inviter ?? "Somebody"} invites you to ${org} at ${host}.`,
    "",
    `The org is ${orgName}, and you would be its member ${lastOf(text.memberPath)}.`,
    "",
    "To accept or decline, open this link and sign in:",
    "",
    text.link,
    "",
    `The invitation ends on ${text.expireTime.toISOString().slice(0, 16).replace("T", " at ")} UTC. The link is for you alone: do not pass it on.`,
    "If you do not know who sent this, ignore it. Then nothing happens.",
    "",
  ];
  return { subject: `Invitation to ${org}`, text: lines.join("\n") };
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
