// The mail with the link of an invitation: plain text, whose only URL is that of this service. What people chose, such as the names of an org,
// is shown only where no mail program makes a link of it.

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

const maxNameLength = 80;

/** Returns the subject and the text of a mail. */
export function writeInvitation(text: InvitationText): { readonly subject: string; readonly text: string } {
  const orgName = lastOf(text.orgPath);
  const org = harmless(text.orgDisplayName) ?? orgName;
  const inviter = harmless(text.inviterDisplayName);
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

/**
 * What a mail program could show as a link: addresses of all kinds, whatever the letters of a domain; one with a space beside its dot,
 * which only looks like one; and phone numbers, of 7 digits or more.
 */
const linkLike =
  /[/\\@:]|www|\S[.\u3002]\S|[\p{L}\p{N}]\s?[.\u3002]\s?[\p{L}\p{N}]|\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){6}/iu;

/** Returns a name that people chose, on one line; undefined for one that is empty, or that a mail program could show as a link. */
function harmless(name: string): string | undefined {
  // Line ends, other controls, and characters that set the direction of what follows.
  const line = name
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const short = Array.from(line).slice(0, maxNameLength).join("");
  // Some programs read letters, digits and dots of other forms as the plain ones.
  return short === "" || linkLike.test(short.normalize("NFKC")) ? undefined : short;
}
