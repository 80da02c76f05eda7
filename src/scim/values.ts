// Reads the values of attributes. What a directory leaves out as null or as an empty text is as if it were not sent.
import { randomBytes } from "node:crypto";
import { nameLike } from "../paths/name-like.ts";
import { isName } from "../paths/parse-path.ts";
import { scimFault } from "./errors.ts";

/** @throws ServiceError FIELD_INVALID with `invalidValue` */
export function readText(value: unknown, name: string, maxLength: number): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value.length > maxLength || !value.isWellFormed() || /\p{Cc}/u.test(value)) {
    const rule = `${name} must be a text of at most ${maxLength} characters of Unicode without control characters`;
    throw scimFault("invalidValue", rule);
  }
  return value;
}

/** Reads a boolean, also as some directories write it. @throws ServiceError FIELD_INVALID with `invalidValue` */
export function readBoolean(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (text === "true" || text === "false") return text === "true";
  throw scimFault("invalidValue", `${name} must be true or false`);
}

/** Returns what is compared without case. */
export const fold = (text: string): string => text.toLowerCase();

/** How long a display name is at most, in characters. */
export const maxDisplayName = 512;

const maxPlain = 64;

/** Returns the beginning of a text that a display name can hold: of a-z, digits and dashes it has 64 at most. */
export function fitDisplayName(text: string): string {
  let plain = 0;
  let fitting = "";
  for (const character of Array.from(text).slice(0, maxDisplayName)) {
    if (/[a-z0-9-]/.test(character) && ++plain > maxPlain) break;
    fitting += character;
  }
  return fitting;
}

const maxName = 40;

/** Returns a name for paths that resembles a text. */
export function toName(text: string, otherwise: string): string {
  const name = nameLike(text, maxName);
  return isName(name) ? name : otherwise;
}

/** Returns such a name that is different each time. */
export const distinct = (name: string): string => `${name}-${randomBytes(4).toString("hex")}`;
