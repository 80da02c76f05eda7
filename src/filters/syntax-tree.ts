// What a filter says, before anybody asks which fields there are. Columns count characters from 1.

export const comparators = ["<=", "<", ">=", ">", "!=", "=", ":"] as const;

export type Comparator = (typeof comparators)[number];

/** One text or quoted string, with its escapes resolved. */
export interface Value {
  /** What stands between the wildcards: `a*b` is `["a", "b"]`, and what has no wildcard is one part. */
  readonly parts: readonly string[];
  readonly quoted: boolean;
  readonly column: number;
}

/** Values with dots between them: a field, or the number 1.5, or the host example.com. */
export interface Member {
  readonly kind: "member";
  readonly values: readonly [Value, ...Value[]];
  readonly column: number;
}

interface FunctionCall {
  readonly kind: "function";
  readonly name: string;
  readonly column: number;
}

/** An expression in parentheses where a value is expected: `state = (INVITED OR ACTIVE)`. */
interface Composite {
  readonly kind: "composite";
  readonly node: FilterNode;
  readonly column: number;
}

export type Comparable = Member | FunctionCall;

export type Argument = Comparable | Composite;

export type FilterNode =
  | { readonly kind: "and" | "or"; readonly nodes: readonly FilterNode[] }
  | { readonly kind: "not"; readonly node: FilterNode }
  /** A global restriction: a comparable by itself. */
  | { readonly kind: "global"; readonly comparable: Comparable }
  | {
      readonly kind: "restriction";
      readonly comparable: Comparable;
      readonly comparator: Comparator;
      /** Where the comparator stands. */
      readonly column: number;
      readonly argument: Argument;
    };
