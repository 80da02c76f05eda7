// What the screens about the account of an organisation or a customer say. They load it; the first page does not.
import type { Contact_Kind } from "../../../gen/iam/v1alpha/contact_pb.ts";
import type { NamesOf } from "./enum-words.ts";

export const accountTexts = {
  title: "Account",
  intro: "Who holds the organisation, how it is reached, who may act for it, and what becomes of it when it is closed.",
  invoices: "For invoices",
  legalName: "Legal name",
  legalNameHint: "Under which the holder is registered, such as Acme Ltd.",
  billingReference: "Billing reference",
  billingReferenceHint: "What invoices are to name, such as the number of an order.",
  changeIntro: "What invoices and contracts name. People see it who may see the account.",
  contacts: "Contacts",
  contactsIntro: "Each gets the warnings of its kinds, once somebody who reads its mail has confirmed the address.",
  contact: "Contact",
  create: "New contact",
  createIntro: "Nothing is sent to the address before you send it a link to confirm it.",
  none: "There are no contacts yet.",
  noneHintOf: {
    org: "Without one, nobody is warned about keys that end or webhooks that stop.",
    customer:
      "Without one, nobody is warned about webhooks of the customer that stop, or organisations that are closed.",
  },
  hidden: "You may not see the contacts here.",
  email: "Address",
  emailHint: "For example billing@example.com. Better a mailbox of several people than that of one.",
  kinds: "For",
  kindWords: {
    BILLING: "Billing",
    SECURITY: "Security",
    TECHNICAL: "Technical matters",
  } satisfies Record<NamesOf<typeof Contact_Kind>, string>,
  confirmed: "Confirmed",
  unconfirmed: "Not confirmed",
  send: "Send a link",
  sendIntro: "The address gets a link with which it is confirmed. Links from before no longer work.",
  deleteIntro: "It gets no more warnings.",
  sentTitle: "The link is sent",
  sentTo: "A mail with the link was sent to",
  linkTitle: "Pass the link on",
  linkIntro: "The link is shown once. It is for whoever reads the mail of",
  notSent: "No mail was sent:",
  done: "I have passed it on",
  close: "Close",
  owners: "Who may act",
  ownersIntroOf: {
    org: "Owners decide everything, also about the account. The last one cannot be removed, suspended or deleted.",
    customer: "Owners here decide everything about the customer and in all of its organisations.",
  },
  ownersHidden: "You may not see who has which role here.",
  noOwners: "Nobody is an owner here by a role on it. Somebody above it may act.",
  consumed: "What was consumed",
  closing: "Closing the account",
  closed: "Deleted",
  purged: "Removed for good",
  closingOf: {
    org: [
      "Who deletes the organisation ends all access to what is in it at once. For 30 days, unless the operator has set another time, everything is kept and can be restored, and the name stays taken.",
      "After that, everything in it is removed for good, with its log, its contacts and what it has consumed: export the log before. That it was purged stays in the log of its customer.",
      "The last organisation of a customer is closed with its customer.",
    ],
    customer: [
      "Who deletes the customer deletes its organisations with it, and ends all access to what is in them at once. For 30 days, unless the operator has set another time, everything is kept and can be restored, and the names stay taken.",
      "After that, everything is removed for good, with all logs: export them before. That it was purged stays in the log of the platform.",
    ],
  },
  command: "With the command line:",
} as const;
