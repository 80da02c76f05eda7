import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { quote, shorten } from "../errors/rest-error.ts";
import { NumberText } from "./number-text.ts";
import { RefusedValue } from "./refused-value.ts";
import { setOwn } from "./set-own.ts";

/**
 * Returns JSON that google.protobuf.Value can hold: with doubles in place of each NumberText, as `Value` has no other numbers. Returns
 * the value itself if it has none.
 *
 * @throws RefusedValue for numbers beyond doubles, and for strings or keys that are not valid Unicode.
 */
export function toPlainJson(json: JsonValue): JsonValue {
  return checkPlain(json) ? json : copyPlain(json);
}

/** Checks the value. Returns whether it has no NumberText. */
function checkPlain(json: JsonValue): boolean {
  switch (typeof json) {
    case "string":
      checkText(json);
      return true;
    case "number":
      return checkNumber(json, json);
    case "object": {
      if (json === null) return true;
      if (json instanceof NumberText) return !checkNumber(Number(json.text), json.text);
      let isPlain = true;
      if (Array.isArray(json)) {
        for (const item of json) isPlain = checkPlain(item) && isPlain;
        return isPlain;
      }
      for (const key of Object.keys(json)) {
        checkText(key);
        isPlain = checkPlain(json[key] as JsonValue) && isPlain;
      }
      return isPlain;
    }
    default:
      return true;
  }
}

function checkText(text: string): void {
  if (!text.isWellFormed()) throw new RefusedValue(`must have strings of valid Unicode, got ${quote(text)}`);
}

function checkNumber(value: number, given: number | string): true {
  if (Number.isFinite(value)) return true;
  const got = shorten(String(given));
  throw new RefusedValue(`must have numbers from -1.7976931348623157e308 to 1.7976931348623157e308, got ${got}`);
}

function copyPlain(json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  if (json instanceof NumberText) return Number(json.text);
  if (Array.isArray(json)) return json.map(copyPlain);
  const copy: JsonObject = {};
  for (const key of Object.keys(json)) setOwn(copy, key, copyPlain(json[key] as JsonValue));
  return copy;
}
