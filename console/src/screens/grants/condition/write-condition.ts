import { isNumeric, type Part } from "./parts.ts";

const identifier = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Words that CEL keeps for itself, so that they are no fields (its specification, "Syntax"). */
const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

/** Texts of CEL have the escapes of JSON. */
const quote = (text: string): string => JSON.stringify(text);

/** Writes comparisons that all have to be true as a condition in CEL. */
export const writeCondition = (parts: readonly Part[]): string => parts.map(writePart).join(" && ");

function writePart(part: Part): string {
  const { operator } = part;
  const [subject, value] = [writeSubject(part), writeValue(part)];
  const isMethod = operator === "startsWith" || operator === "endsWith" || operator === "contains";
  return isMethod ? `${subject}.${operator}(${value})` : `${subject} ${operator} ${value}`;
}

function writeSubject({ about, key }: Part): string {
  switch (about) {
    case "label":
      return `resource.labels${writeKey(key)}`;
    case "path":
      return "resource.path";
    case "subject":
      return "subject.type";
    case "time":
      return "request.time";
    case "hour":
      return `request.time.getHours(${quote(key)})`;
    case "weekday":
      return `request.time.getDayOfWeek(${quote(key)})`;
    case "context":
      return `context${writeKey(key)}`;
  }
}

const writeKey = (key: string): string => (identifier.test(key) && !reserved.has(key) ? `.${key}` : `[${quote(key)}]`);

function writeValue({ about, value }: Part): string {
  if (about === "time") return `timestamp(${quote(value)})`;
  return isNumeric(about) ? value : quote(value);
}
