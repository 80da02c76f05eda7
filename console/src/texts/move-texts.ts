// What the dialog says that moves a group into another one.
export const moveTexts = {
  move: "Move",
  moved: "Moved",
  to: "to",
  into: "Into which group",
  intro: "The group is nested in the other one, and then taken out of this one.",
  gains: (group: string) => `By being nested in ${group}`,
  loses: (group: string) => `By leaving ${group}`,
  losesAtMost: "At most: what the other group gives as well stays.",
  both: (into: string, from: string) =>
    `It is nested in ${into} now, and still in ${from}. Try again, or leave it in both.`,
};
