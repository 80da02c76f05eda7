// What the list of members says about several of them, and a member about its history.
import { counted } from "./counted.ts";

export const memberTexts = {
  showHistory: "Show the history",
  allChanges: "All changes of this member",
  changedByIt: "What this member has changed",
  noHistory: "Nothing of this member has changed yet.",
  addToGroup: "Add to a group",
  add: "Add",
  addManyToGroup: (count: number) => `Add ${counted(count, "member", "members")} to a group?`,
  addedToGroup: "Added",
  chooseGroup: "choose a group",
  suspendIntro: "They lose all access at once, and their sessions and keys are refused, until they are activated.",
  activateIntro: "They get back the access that they had.",
  deleteIntro: "They lose all access at once, and their names are free. Until they are purged, they can be restored.",
};
