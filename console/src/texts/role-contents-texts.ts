// What is said of what a role contains, before it is given.
import { counted } from "./counted.ts";

export const roleContentsTexts = {
  title: "What is in this role",
  everything: "Every permission there is, also those that are added later.",
  count: (permissions: number, kinds: number) =>
    `${counted(permissions, "permission", "permissions")} for ${counted(kinds, "kind", "kinds")} of things.`,
  reads: "It only reads.",
  changes: (kinds: string) => `It changes ${kinds}.`,
  more: (count: number) => `${count} more`,
  show: "Show all permissions",
};
