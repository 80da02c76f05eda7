// What is said where something cannot be shown or done, in place of what the service says or before it.
export const problemTexts = {
  missing: "There is nothing here",
  hidden: "Nothing here that you may see",
  failed: "This cannot be shown now",
  changedOne: (path: string) => `${path}: ${problemTexts.changed}`,
  changed: "Somebody has changed it since you opened this. Close it, look at how it is now, and do it again.",
};
