// What the screens about invitations say.
export const invitationTexts = {
  invite: "Invite",
  title: "Invite somebody",
  intro:
    "The address gets a link. Who opens it signs in with an account of that address, and accepts. Until then, the member may do nothing.",
  email: "Address",
  emailHint: "For example alice@example.com",
  nameHint: "How paths name the member, such as alice. If empty, it is taken from the address.",
  days: "The invitation ends",
  ends: { 1: "after a day", 7: "after a week", 30: "after 30 days" },
  sendAgain: "Send again",
  sendAgainIntro: "The address gets another link. Links from before no longer work.",
  until: "until",
  sentTitle: "The invitation is sent",
  sentTo: "A mail with the link was sent to",
  linkTitle: "Pass the link on",
  linkIntro: "The link is shown once. Only somebody with an account of this address can accept with it:",
  copyLink: "Copy the link",
  notSent: "No mail was sent:",
  done: "I have passed it on",
  close: "Close",
} as const;
