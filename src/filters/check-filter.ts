import type { Condition } from "./condition.ts";
import { clip, errorAt, quote } from "./error-at.ts";
import type { FilterField, FilterFields } from "./filter-fields.ts";
import { foldCase } from "./fold-case.ts";
import { refuseForeignOperators } from "./refuse-foreign-operators.ts";
import { type Target, isWildcard, restrict } from "./restrict.ts";
import type { Argument, Comparable, Comparator, FilterNode, Member, Value } from "./syntax-tree.ts";

/** Substring searches are the most expensive conditions: some 60 ms per word and field for 100,000 rows. */
const maxSearches = 10;
/** Each letter that a search replaces costs a step for each letter that it looks at. No alphabet has so many. */
const maxFoldedLetters = 64;

interface Check {
  readonly fields: FilterFields;
  searches: number;
}

/**
 * Checks a filter against the fields of a resource, and returns it as a condition.
 *
 * @throws ServiceError FIELD_INVALID for an unknown field, a comparator that the field does not support, a value of the wrong
 * type, more than 10 substring searches, operators of other languages, and any function, because there are none.
 */
export function checkFilter(node: FilterNode, fields: FilterFields): Condition {
  refuseForeignOperators(node, fields);
  return checkNode(node, { fields, searches: 0 });
}

function checkNode(node: FilterNode, check: Check): Condition {
  switch (node.kind) {
    case "and":
      return { kind: "all", conditions: node.nodes.map((part) => checkNode(part, check)) };
    case "or":
      return { kind: "any", conditions: node.nodes.map((part) => checkNode(part, check)) };
    case "not":
      return { kind: "not", condition: checkNode(node.node, check) };
    case "global":
      return search(toMember(node.comparable), check);
    case "restriction": {
      const { comparator, column } = node;
      const target = findTarget(toMember(node.comparable), check.fields);
      return apply({ target, comparator, column, check }, node.argument);
    }
  }
}

/** Returns the condition of a bare word: one of the searched fields contains it. `*` matches any text that is not empty. */
function search(member: Member, check: Check): Condition {
  const value = valueOf(member);
  const searched = Object.values(check.fields).filter(isSearched);
  if (searched.length === 0) {
    throw errorAt("filter", member.column, `expected a restriction such as field = value; ${listFields(check.fields)}`);
  }
  countSearch(check, value, member.column);
  const conditions = searched.map((operand): Condition =>
    isWildcard(value) ? { kind: "present", operand } : { kind: "contains", operand, parts: value.parts },
  );
  return { kind: "any", conditions };
}

function isSearched(field: FilterField): field is FilterField & { readonly kind: "text" } {
  return field.kind === "text" && field.isSearched;
}

function countSearch(check: Check, { parts }: Value, column: number): void {
  if (++check.searches > maxSearches) {
    throw errorAt("filter", column, `at most ${maxSearches} search words are allowed, alone or as field:word`);
  }
  if (Array.from(foldCase(parts.join("")).from).length > maxFoldedLetters) {
    throw errorAt(
      "filter",
      column,
      `a search word can have at most ${maxFoldedLetters} different letters beyond ASCII`,
    );
  }
}

function findTarget(member: Member, fields: FilterFields): Target {
  const [first, key, ...more] = member.values;
  const name = first.parts.join("*");
  if (first.quoted) {
    throw errorAt("filter", first.column, `expected a field before the comparator, got the string ${quote(name)}`);
  }
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) {
    throw errorAt("filter", first.column, `there is no field ${quote(name)}; ${listFields(fields)}`);
  }
  if (key === undefined) return { name, field };
  if (field.kind !== "textMap" && field.kind !== "numberMap")
    throw errorAt("filter", key.column, `${name} has no fields of its own`);
  if (key.parts.length > 1) {
    throw errorAt("filter", key.column, String.raw`a key cannot contain wildcards; write an asterisk as \*`);
  }
  const [text = ""] = key.parts;
  const [extra] = more;
  if (extra !== undefined) {
    throw errorAt(
      "filter",
      extra.column,
      `a key with dots must be quoted: ${name}."${clip(`${text}.${extra.parts.join("*")}`)}"`,
    );
  }
  return { name: `${name}.${clip(text)}`, field, key: text };
}

/** The left side of a restriction. */
interface Left {
  readonly target: Target;
  readonly comparator: Comparator;
  /** The column of the comparator. */
  readonly column: number;
  readonly check: Check;
}

function apply(left: Left, argument: Argument): Condition {
  if (argument.kind === "composite") return distribute(left, argument.node);
  const value = valueOf(toMember(argument));
  const condition = restrict(left.target, left.comparator, left.column, value);
  if (condition.kind === "contains") countSearch(left.check, value, value.column);
  return condition;
}

/**
 * Expands an expression in place of a value to a comparison with each of its values. `a != (x OR y)` is meant as "a is
 * neither", so under `!=` the operators AND and OR are exchanged.
 */
function distribute(left: Left, node: FilterNode): Condition {
  const apart = left.comparator === "!=";
  switch (node.kind) {
    case "and":
    case "or":
      return {
        kind: (node.kind === "and") === apart ? "any" : "all",
        conditions: node.nodes.map((part) => distribute(left, part)),
      };
    case "not":
      if (apart) return distribute({ ...left, comparator: "=" }, node.node);
      return { kind: "not", condition: distribute(left, node.node) };
    case "global":
      return apply(left, node.comparable);
    case "restriction":
      throw errorAt("filter", node.column, `expected only values in the parentheses after "${left.comparator}"`);
  }
}

function toMember(comparable: Comparable): Member {
  if (comparable.kind === "member") return comparable;
  throw errorAt(
    "filter",
    comparable.column,
    `function ${clip(comparable.name)}() is not supported; there are no functions`,
  );
}

/** Returns the value of a member, including its dots, as in 1.5 or example.com. */
function valueOf({ values }: Member): Value {
  const [first, ...others] = values;
  if (others.length === 0) return first;
  const inQuotes = values.find((value) => value.quoted);
  if (inQuotes !== undefined) {
    throw errorAt("filter", inQuotes.column, "a value must be either one quoted string or unquoted text");
  }
  const parts = [...first.parts];
  for (const value of others) {
    const [start = "", ...rest] = value.parts;
    parts.push(`${parts.pop() ?? ""}.${start}`, ...rest);
  }
  return { ...first, parts };
}

function listFields(fields: FilterFields): string {
  return `the fields are ${Object.keys(fields).toSorted().join(", ")}`;
}
