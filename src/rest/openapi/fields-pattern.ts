import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { hasJsonFormOfItsOwn } from "../json/json-forms.ts";
import { isInputOnly } from "./field-behavior.ts";

/** How many levels the described paths have. The transcoder accepts longer ones, and the names of JSON. */
const mostLevels = 2;

/** A key of a map in the paths of `field-paths.ts`: plain, or quoted as in AIP-161. */
export const mapKeyPattern = "[\\w/-]+|`([^`]|``)*`";

/** Returns the pattern of the `fields` that select a part of a message (AIP-157): at most 100 paths. */
export function fieldsPattern(desc: DescMessage): string {
  const path = pathIn(desc, 1);
  return `^(${path})(,(${path})){0,99}$`;
}

function pathIn(desc: DescMessage, level: number): string {
  const fields = hasJsonFormOfItsOwn(desc) ? [] : desc.fields.filter((field) => !isInputOnly(field));
  return [...fields.map((field) => field.name + below(field, level)), String.raw`\*`].join("|");
}

function below(field: DescField, level: number): string {
  if (level === mostLevels) return "";
  if (field.fieldKind === "map") return String.raw`(\.(${mapKeyPattern}|\*))?`;
  const { message } = field;
  return message === undefined || hasJsonFormOfItsOwn(message) ? "" : String.raw`(\.(${pathIn(message, level + 1)}))?`;
}
