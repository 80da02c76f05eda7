// What the builder of conditions knows: a condition that is one comparison, or several that all have to be true.

/** What a comparison is about. */
export type About = "label" | "path" | "subject" | "time" | "hour" | "weekday" | "context";

export type Operator = "==" | "!=" | "startsWith" | "endsWith" | "contains" | "<" | "<=" | ">" | ">=";

/** One comparison, such as `resource.labels.env == "dev"`. */
export interface Part {
  readonly about: About;
  /** Of a label or an attribute of the call, its name; of an hour or a day of the week, the time zone; empty for others. */
  readonly key: string;
  readonly operator: Operator;
  /** As it is typed: a text, a time such as `2026-12-04T17:00:00Z`, or a whole number. */
  readonly value: string;
}

/** The operators of each, the usual one first. */
export const operatorsOf: Readonly<Record<About, readonly Operator[]>> = {
  label: ["==", "!=", "startsWith"],
  path: ["startsWith", "contains", "endsWith", "==", "!="],
  subject: ["==", "!="],
  time: ["<", ">="],
  hour: [">=", "<"],
  weekday: ["==", "!=", ">=", "<="],
  context: ["==", "!=", "startsWith"],
};

/** Whether a comparison has a key, and what it is at first. */
export const firstKey: Readonly<Record<About, string | undefined>> = {
  label: "env",
  path: undefined,
  subject: undefined,
  time: undefined,
  hour: "UTC",
  weekday: "UTC",
  context: "ip",
};

/** What a value is at first. */
const firstValue: Readonly<Record<About, string>> = {
  label: "",
  path: "",
  subject: "member",
  time: "",
  hour: "9",
  weekday: "1",
  context: "",
};

/** Whether values are whole numbers, and not texts. */
export const isNumeric = (about: About): boolean => about === "hour" || about === "weekday";

/** Returns a comparison to begin with. */
export const firstPart = (about: About): Part => ({
  about,
  key: firstKey[about] ?? "",
  operator: operatorsOf[about][0] ?? "==",
  value: firstValue[about],
});
