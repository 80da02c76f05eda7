import type { DescMessage } from "@bufbuild/protobuf";
import { rollsOver } from "./parse-timestamp.ts";

type TextCheck = (text: string) => boolean;

/** The types that protobuf-es also reads from text that is not valid for them, with the function that finds such text. */
const checks: ReadonlyMap<string, TextCheck> = new Map([
  ["google.protobuf.Timestamp", rollsOver],
  // protobuf-es ignores what follows the "s".
  ["google.protobuf.Duration", (text) => !/^-?\d+(\.\d{1,9})?s$/.test(text)],
]);

/**
 * Returns the function that finds text which protobuf-es reads as a `desc` although it is not valid. It may return true for
 * other invalid text too, and returns false for all valid text.
 *
 * @returns undefined for types that have no such text.
 */
export function misreadCheck(desc: DescMessage): TextCheck | undefined {
  return checks.get(desc.typeName);
}
