// The syntax tree of a filter, before fields are resolved. Columns count characters from 1.

export const comparators = ["<=", "<", ">=", ">", "!=", "=", ":"] as const;

export type Comparator = (typeof comparators)[number];

/** A text or quoted string, with its escapes resolved. */
export interface Value {
  /** The parts between wildcards: `a*b` is `["a", "b"]`. A value without wildcards has one part. */
  readonly parts: readonly string[];
  readonly quoted: boolean;
  readonly column: number;
}

/** Values separated by dots: a field, the number 1.5, or the host example.com. */
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
  /** A global restriction: a comparable without a comparator. */
  | { readonly kind: "global"; readonly comparable: Comparable }
  | {
      readonly kind: "restriction";
      readonly comparable: Comparable;
      readonly comparator: Comparator;
      /** The column of the comparator. */
      readonly column: number;
      readonly argument: Argument;
    };
