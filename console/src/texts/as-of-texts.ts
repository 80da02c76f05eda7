// What is said about moments in the past.
export const asOfTexts = {
  other: "Ask as of another time",
  title: "As of when",
  time: "As of a time",
  revision: "Or as of a revision",
  revisionHint: "The log of changes has them.",
  ask: "Ask as of then",
  now: "Back to now",
  asOf: "as of",
  whoMay: "Who could do what then?",
};
