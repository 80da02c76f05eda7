import type { MailedLinks } from "../mails/mailed-links.ts";

/** The longest time from now at which an invitation expires, and for which a link works. */
export const maxInvitationSeconds = 30 * 86_400;

export const invitationLinks: MailedLinks = {
  table: "invitations",
  owner: "member_id",
  seconds: maxInvitationSeconds,
  called: "invitations",
};
