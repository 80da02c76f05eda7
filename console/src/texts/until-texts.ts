// What the field says for when something ends.
export const untilTexts = {
  until: "Until",
  usual: "Usual ends",
  endings: { hour: "In an hour", tomorrow: "Tomorrow", friday: "Friday", month: "In 30 days" },
};
