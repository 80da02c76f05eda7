// What is said to somebody who lacks a permission.
export const lackTexts = {
  need: "You need",
  on: "on",
  platform: "the platform",
  suspended: "It is suspended: only who may activate it has access.",
  exactly: "What the service said",
};
