import type { DescField } from "@bufbuild/protobuf";
import { invalidFields, type RestError } from "../errors/rest-error.ts";

/** How many items a list takes, or entries a map. */
export interface ItemLimit {
  readonly max: number;
  /** What is accepted, as a sentence that continues after the name of the field: `must have at most 64 labels`. */
  readonly description: string;
  /** The stable id of the rule, for machines. */
  readonly rule: string;
}

/** Returns the limit of a repeated field or a map; undefined for other fields, and for what may be of any length. */
export type ItemLimitOf = (field: DescField) => ItemLimit | undefined;

/**
 * Longer messages are checked before they are parsed: one of 1 MB with 76,000 labels takes 90 ms to parse, and a fiftieth of a
 * millisecond to check. Shorter messages are parsed in less than 2 ms, so for them the check is not worth its time.
 */
export const maxUncheckedLength = 16_384;

export interface Excess {
  /** Continues the path of the message, or of the value, in which it was found: `.labels`, `[3].member.labels`. */
  readonly path: string;
  readonly limit: ItemLimit;
}

export function tooMany({ path, limit: { description, rule } }: Excess): RestError {
  return invalidFields([{ field: path.slice(1), description, rule }]);
}
