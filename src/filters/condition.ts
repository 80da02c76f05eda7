// A filter that was checked: every field is there, every value is one of its type.
import type { Expression } from "kysely";
import type { ScalarType } from "./scalar-types.ts";
import type { Comparator } from "./syntax-tree.ts";

/** What a restriction looks at. It can be absent: an unset message, a key that a map does not have. */
export type Operand =
  | { readonly kind: "text"; readonly value: Expression<unknown> }
  | { readonly kind: "enum"; readonly value: Expression<unknown> }
  | { readonly kind: "textMap"; readonly value: Expression<unknown>; readonly isLabels: boolean }
  | { readonly kind: "scalar"; readonly value: Expression<unknown>; readonly type: ScalarType }
  | { readonly kind: "entry"; readonly value: Expression<unknown>; readonly isLabels: boolean; readonly key: string };

/** A restriction on something absent does not hold, whatever its comparator; `not` of it then does. */
export type Condition =
  | { readonly kind: "all" | "any"; readonly conditions: readonly Condition[] }
  | { readonly kind: "not"; readonly condition: Condition }
  /** Not absent, and for what is no message not the default: "", 0, false, a map without entries. */
  | { readonly kind: "present"; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly operand: Operand;
      readonly comparator: Exclude<Comparator, ":">;
      readonly value: string;
    }
  /** The whole text is the parts with anything in between; the other way round where `negated`. */
  | { readonly kind: "like"; readonly operand: Operand; readonly parts: readonly string[]; readonly negated: boolean }
  /** The parts, with anything in between, are somewhere in the text, in whatever case. */
  | { readonly kind: "contains"; readonly operand: Operand; readonly parts: readonly string[] };
