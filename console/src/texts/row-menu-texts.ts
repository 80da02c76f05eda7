// What the menu of a row says.
export const rowMenuTexts = {
  column: "More",
  more: (name: string) => `More of ${name}`,
  open: "Open",
  copyPath: "Copy the path",
  copyId: "Copy the id",
  refused: "The browser does not let this page copy",
};
