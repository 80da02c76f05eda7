// What fields for amounts say.
export const amountTexts = {
  unit: "Unit",
  unitOf: "of",
  units: ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
  required: "required",
  noNumber: (typed: string) => `must be a number, got ${JSON.stringify(typed)}`,
};
