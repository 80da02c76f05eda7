/** What is said where a secret is replaced. */
export const secretTexts = {
  rotate: "Replace the secret",
  overlap: "The secret before ends",
  overlaps: [
    { value: "0", label: "At once" },
    { value: "3600", label: "In an hour" },
    { value: "86400", label: "In a day" },
    { value: "604800", label: "In a week" },
    { value: "2592000", label: "In 30 days" },
  ],
  previousEnds: "Secret before, until",
  keys: {
    ofOperator:
      'It is a key of the operator of this installation, for whom every permission is granted. Calls with it are refused at once, and its sessions end. On the machine of the service, "tenantry operator-key" makes another one.',
    noneHint: "Each program that acts as this member has one of its own.",
    replace: "Replace",
    replaced: "Replaced",
    intro:
      "Each gets a successor with another secret, which may do the same. Change the programs over before the old one ends.",
    untilHint: "When the new ones end. Empty: each after as long as the one that it replaces.",
    lost: "The secrets of those that are done are shown on this screen only.",
    title: "The secrets of the new keys",
    once: "They are shown once. Put each where its program reads it.",
    copyOf: (name: string) => `Copy the secret of ${name}`,
    haveAll: "I have them",
    copyAll: "Copy all, each on a line with its name",
  },
};
