// What is said about moments in the past.
import type { PlannedChange_Action } from "../../../gen/iam/v1alpha/org_file_pb.ts";
import { counted } from "./counted.ts";
import type { NamesOf } from "./enum-words.ts";

export const momentTexts = {
  revisionHint: "The log of changes has them.",
};

export const asOfTexts = {
  other: "Ask as of another time",
  title: "As of when",
  time: "As of a time",
  revision: "Or as of a revision",
  ask: "Ask as of then",
  now: "Back to now",
  asOf: "as of",
  whoMay: "Who could do what then?",
};

export const pastTexts = {
  title: "As it was",
  intro:
    "What the organisation had at a moment: who was in it, in which groups, with which roles. Names are those of then.",
  when: "As of when",
  slider: "Moment",
  now: "Now",
  revision: "A revision",
  show: "What is shown",
  search: "Search",
  none: "There was nothing then.",
  noneFound: "Nothing then has these words.",
  members: "Who was in it",
  bindings: "Who had roles on it",
  permissions: "Permissions",
  inGroup: "Members of a group",
  onProject: "Roles granted on a project",
  fromLog: "As it was then",
};

/** What a change of a plan does to something. */
const actions: Readonly<Record<NamesOf<typeof PlannedChange_Action>, string>> = {
  CREATE: "Create again",
  UPDATE: "Change",
  REPLACE: "Replace",
  DELETE: "Delete",
  UNDELETE: "Undelete",
  ACTIVATE: "Activate",
  SUSPEND: "Suspend",
};

export const rollbackTexts = {
  title: "Put back",
  intro:
    "Leads the organisation back to what it was: all of it, or nothing. You see first what that changes. What happened since stays in the log of changes. Keys, sessions, secrets, quotas and resources stay as they are, and so do you and the owners.",
  when: "Back to when",
  time: "Back to a time",
  revision: "Or back to a revision",
  ask: "Show what changes",
  to: "Back to",
  actions,
  changes: "What is changed",
  nothing: "Nothing is different from then.",
  with: "with",
  alsoGone: (count: number) => `${counted(count, "thing goes", "things go")} with what is deleted`,
  moreGone: (count: number) => `And ${count} more.`,
  obstacles: "It cannot be put back, because",
  leaveOut: "Leave out what cannot be put back",
  leftOut: "What stays different",
  submit: (count: number) => `Put back (${counted(count, "change", "changes")})`,
  done: (count: number) => `It is put back, by ${counted(count, "change", "changes")}.`,
  see: "See them",
  fromLog: "Put back to then",
};
