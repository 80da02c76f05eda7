// What a list says that shows only what a SCIM source manages.
export const managedTexts = {
  only: "Only what is managed by the SCIM source",
  all: "Show all",
};
