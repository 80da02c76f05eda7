// A filter after the check: every field exists, and every value has the type of its field.
import type { Expression } from "kysely";
import type { TextEquals } from "./filter-fields.ts";
import type { ScalarType } from "./scalar-types.ts";
import type { Comparator } from "./syntax-tree.ts";

/** The left side of a restriction. It can be absent: an unset message, or a missing key of a map. */
export type Operand =
  | { readonly kind: "text"; readonly value: Expression<unknown>; readonly equals?: TextEquals }
  | { readonly kind: "enum"; readonly value: Expression<unknown> }
  | { readonly kind: "textMap"; readonly value: Expression<unknown>; readonly isLabels: boolean }
  | { readonly kind: "scalar"; readonly value: Expression<unknown>; readonly type: ScalarType }
  | { readonly kind: "entry"; readonly value: Expression<unknown>; readonly isLabels: boolean; readonly key: string };

/** A restriction on an absent operand is false for every comparator; its negation with `not` is true. */
export type Condition =
  | { readonly kind: "all" | "any"; readonly conditions: readonly Condition[] }
  | { readonly kind: "not"; readonly condition: Condition }
  /** Not absent and, except for messages, not the default value: "", 0, false or an empty map. */
  | { readonly kind: "present"; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly operand: Operand;
      readonly comparator: Exclude<Comparator, ":">;
      readonly value: string;
    }
  /** The whole text matches the parts with anything in between; with `negated`, it does not match. */
  | { readonly kind: "like"; readonly operand: Operand; readonly parts: readonly string[]; readonly negated: boolean }
  /** The text contains the parts with anything in between, regardless of case. */
  | { readonly kind: "contains"; readonly operand: Operand; readonly parts: readonly string[] };
