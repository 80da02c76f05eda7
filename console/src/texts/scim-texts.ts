// What the screens about SCIM sources say. They load it; the first page does not.
import type { ScimSource_Subject } from "../../../gen/iam/v1alpha/scim_source_pb.ts";
import type { NamesOf } from "./enum-words.ts";

export const scimTexts = {
  title: "SCIM sources",
  one: "SCIM source",
  intro:
    "Directories, such as Microsoft Entra ID or Okta, that create, change and deactivate members here by SCIM 2.0.",
  search: "Search SCIM sources",
  none: "No directory manages members here.",
  noneHint: "Create a source, make its key, and give both to whoever runs the directory. Only owners can.",
  noneFound: "No SCIM source has these words.",
  create: "New SCIM source",
  createIntro:
    "The directory then creates members and groups, and changes and deactivates those that it has created, whatever they hold.",
  actsAs: "Acts as",
  nobody: "No application",
  actsAsChoices: {
    new: "A new application",
    known: "An application without API keys",
  },
  actsAsHint: "A new one gets the name of the source, and the role that it needs.",
  application: "Application",
  applicationHint:
    "What it holds is all that a key of the directory can do besides SCIM. A new one holds nothing else.",
  chooseApplication: "choose an application",
  provider: "People sign in with",
  providerHint: "Each member that the directory creates from now on gets an account there.",
  noProvider: "Accounts that are linked by hand",
  subject: "Who somebody is there",
  subjects: {
    EXTERNAL_ID: "externalId, the id of the person in the directory",
    USER_NAME: "userName",
  } satisfies Record<NamesOf<typeof ScimSource_Subject>, string>,
  changeIntro: "What changes counts for members that the directory creates later.",
  deleteIntro:
    "The directory is refused at once. The members and groups that it has created stay, with what they hold, and nobody manages them any more: a new source neither sees nor changes them. Its application and the keys of that stay, too.",
  url: "Base URL",
  copyUrl: "Copy the base URL",
  setUp: {
    title: "Until the directory manages people",
    done: "Done",
    application: "It acts as an application that is active",
    chooseOne: "Choose one under Change.",
    role: "The application has the role SCIM provisioner",
    grant: "Grant the role",
    granted: "Granted the role to",
    grantIntro: "With it, the application does what the directory asks for, and nothing else.",
    key: "It has an API key",
    people: "The directory has created somebody",
    peopleHint: "Not yet: its screens say when it looks next.",
  },
  keys: {
    title: "Keys of the directory",
    intro: "Before one ends, make the next, put it into the directory, and delete the one before.",
    create: "New key",
    createIntro: "It works for SCIM of this organisation alone, if the application holds nothing else.",
    end: "It ends in",
    ends: { "90": "90 days", "180": "180 days", "365": "A year" },
    addresses: "Only from",
    addressesHint: "The addresses of the directory, such as 192.0.2.0/24. Empty: from everywhere.",
    secretTitle: "The key of the directory",
    secretOnce: "It is shown once. The directory calls it secret token, or API token.",
    secretNext: "With the base URL, it is all that the directory needs. Send it apart from the instructions below.",
  },
  managed: {
    title: "What it manages",
    people: (count: string, isOne: boolean) => `${count} ${isOne ? "member" : "members"}`,
    groups: (count: string, isOne: boolean) => `${count} ${isOne ? "group" : "groups"}`,
    moreThan: (count: number) => `More than ${count}`,
    rule: "It sees and changes nothing else here. Whoever is put into one of its groups there has the roles of that group here.",
  },
  guide: {
    title: "For whoever runs the directory",
    intro: "These lines hold nothing secret. Copy those of your directory, and send the key in another way.",
    copyOf: (directory: string) => `Copy for ${directory}`,
    more: "All about SCIM here",
  },
};

/** What is done in a directory, for somebody who has this page not before them. */
interface Guide {
  readonly title: string;
  readonly steps: (url: string) => readonly string[];
}

export const directoryGuides: readonly Guide[] = [
  {
    title: "Microsoft Entra ID",
    steps: (url) => [
      "Under Enterprise applications, choose New application, then Create your own application.",
      "Under Provisioning, choose Automatic.",
      `Tenant URL: ${url}?aadOptscim062020`,
      "Secret token: the key. Test the connection.",
      "For sign-ins, map objectId to externalId. The other mappings may stay as they are.",
      "Assign people and groups, and start. It looks every 40 minutes; Provision on demand is at once.",
    ],
  },
  {
    title: "Okta",
    steps: (url) => [
      "Add an app with SCIM provisioning, such as SCIM 2.0 Test App (Header Auth).",
      `Base URL: ${url}`,
      "Unique identifier: userName. Authorization header: Bearer and the key.",
      "Under To App, switch on Create Users, Update User Attributes and Deactivate Users.",
      "Assign people, and push groups.",
    ],
  },
  {
    title: "Another directory",
    steps: (url) => [`URL of SCIM 2.0: ${url}`, "Authentication: a bearer token, which is the key."],
  },
];
