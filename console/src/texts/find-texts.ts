// What the search for anything says once it is open.
export const findTexts = {
  actions: "What can be created",
  inOrg: (org: string) => `In ${org}`,
  keys: "↑ ↓ to choose, Enter to open, Esc to close.",
};
