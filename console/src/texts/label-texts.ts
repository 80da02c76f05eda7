// What is said about labels.
export const labelTexts = {
  title: "Labels",
  hint: "One in each line, such as env=dev. Filters and conditions can ask for them.",
  noValue: (line: number) => `line ${line} must be a key and a value with = between them, such as env=dev`,
  again: (line: number, key: string) => `line ${line} has the key ${key}, which an earlier line has: each key once`,
};
