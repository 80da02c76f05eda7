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
};
