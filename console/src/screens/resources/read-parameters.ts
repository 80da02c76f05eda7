import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../../calls/invalid-field.ts";
import { amountTexts } from "../../texts/amount-texts.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { valueOf } from "../../ui/text-field.tsx";
import type { ParameterField } from "./parameter-shape.ts";

/** Returns the parameters that somebody has typed; undefined if there are none. */
export function readParameters(form: FormData, shape: ParameterField | undefined): JsonObject | undefined {
  const value = shape && readField(form, shape);
  if (shape === undefined || value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalidField(shape.name, resourceTexts.noObject);
}

/** Returns the value of a field; undefined for one that is left empty. */
function readField(form: FormData, { name, kind }: ParameterField): JsonValue | undefined {
  if (kind.type === "group") {
    const entries = kind.fields.flatMap((field) => {
      const value = readField(form, field);
      return value === undefined ? [] : [[field.key, value] as const];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  const typed = valueOf(form, name);
  if (typed === "") return undefined;
  if (kind.type === "text") return typed;
  const value = parseJson(name, typed);
  if (kind.type === "number" && typeof value !== "number") throw invalidField(name, amountTexts.noNumber(typed));
  return value;
}

function parseJson(name: string, typed: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(typed);
    return value;
  } catch (error) {
    throw invalidField(name, resourceTexts.noJson(error instanceof Error ? error.message : String(error)));
  }
}
