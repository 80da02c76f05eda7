import { sql } from "kysely";
import type { Condition, Operand } from "./condition.ts";
import { errorAt, quote } from "./error-at.ts";
import type { FilterField } from "./filter-fields.ts";
import { scalarTypes } from "./scalar-types.ts";
import type { Comparator, Value } from "./syntax-tree.ts";

/** The left side of a comparator: a field, or an entry of a map. */
export interface Target {
  /** The name in error messages. */
  readonly name: string;
  readonly field: FilterField;
  readonly key?: string;
}

const everyComparator: readonly Comparator[] = ["=", "!=", "<", "<=", ">", ">=", ":"];
const equalities: readonly Comparator[] = ["=", "!=", ":"];

/**
 * Returns the condition of `target comparator value`.
 *
 * @param column of the comparator.
 * @throws ServiceError FIELD_INVALID for a comparator that the target does not support, or a value of the wrong type.
 */
export function restrict(target: Target, comparator: Comparator, column: number, value: Value): Condition {
  const { name, field, key } = target;
  const accepted = comparatorsOf(target);
  if (!accepted.includes(comparator)) {
    throw errorAt(
      "filter",
      column,
      `${name} does not support the comparator "${comparator}"; it supports ${accepted.join(" ")}`,
    );
  }
  if (field.kind === "numberMap" && key !== undefined && !(comparator === ":" && isWildcard(value))) {
    const amount = sql`(${field.value} ->> ${key}::text)::double precision`;
    return compareScalar(name, { kind: "scalar", type: "double", value: amount }, comparator, value);
  }
  const operand = operandOf(target);
  if (comparator === ":" && isWildcard(value)) return { kind: "present", operand };
  switch (operand.kind) {
    case "text":
      if (comparator === ":") return { kind: "contains", operand, parts: value.parts };
      return compareText(operand, comparator, value);
    case "entry":
      return compareText(operand, comparator, value);
    case "scalar":
      return compareScalar(name, operand, comparator, value);
    case "enum":
      return compareEnum(target, operand, comparator, value);
    case "textMap": {
      const wanted = plainText(value) ?? refuse(value, `${name}:<key> accepts only a complete key, or * for any`);
      return { kind: "present", operand: { ...operand, kind: "entry", key: wanted } };
    }
  }
}

function operandOf({ field, key }: Target): Operand {
  switch (field.kind) {
    case "numberMap": {
      const map = { ...field, kind: "textMap", isLabels: false } as const;
      return key === undefined ? map : { ...map, kind: "entry", key };
    }
    case "textMap":
      return key === undefined ? field : { ...field, kind: "entry", key };
    default:
      return field;
  }
}

/** Whether the value is a lone `*`. */
export function isWildcard({ parts }: Value): boolean {
  return parts.length === 2 && parts.every((part) => part === "");
}

function comparatorsOf({ field, key }: Target): readonly Comparator[] {
  switch (field.kind) {
    case "text":
      return everyComparator;
    case "scalar":
      return scalarTypes[field.type].ordered ? everyComparator : equalities;
    case "enum":
      return equalities;
    case "textMap":
      return key === undefined ? [":"] : equalities;
    case "numberMap":
      return key === undefined ? [":"] : everyComparator;
  }
}

function compareText(operand: Operand, comparator: Comparator, value: Value): Condition {
  const operator = orEquals(comparator);
  const text = plainText(value);
  if (text !== undefined) return { kind: "compare", operand, comparator: operator, value: text };
  if (operator === "=" || operator === "!=") {
    return { kind: "like", operand, parts: value.parts, negated: operator === "!=" };
  }
  return refuse(value, String.raw`"*" is a wildcard only with =, != and :; write an asterisk as \*`);
}

function compareScalar(
  name: string,
  operand: Operand & { readonly kind: "scalar" },
  comparator: Comparator,
  value: Value,
): Condition {
  const { expected, isMessage, read } = scalarTypes[operand.type];
  const text = plainText(value);
  const operator = orEquals(comparator);
  if (isMessage && text === "null" && !value.quoted && (operator === "=" || operator === "!=")) {
    const present: Condition = { kind: "present", operand };
    return operator === "=" ? { kind: "not", condition: present } : present;
  }
  const known = text === undefined ? undefined : read(text);
  if (known === undefined) return refuse(value, `${name} must be ${expected}, got ${quoteValue(value)}`);
  return { kind: "compare", operand, comparator: operator, value: known };
}

function compareEnum(
  { name, field }: Target,
  operand: Operand & { readonly kind: "enum" },
  comparator: Comparator,
  value: Value,
): Condition {
  const names = field.kind === "enum" ? field.names : [];
  const known = names.find((candidate) => candidate === plainText(value));
  if (known === undefined) {
    return refuse(value, `${name} must be one of ${names.join(", ")}, got ${quoteValue(value)}`);
  }
  return { kind: "compare", operand, comparator: orEquals(comparator), value: known };
}

/** Treats `:` as `=`. AIP-160: `m.foo:42` is true if `m.foo` is 42. */
function orEquals(comparator: Comparator): Exclude<Comparator, ":"> {
  return comparator === ":" ? "=" : comparator;
}

function plainText({ parts }: Value): string | undefined {
  return parts.length === 1 ? parts[0] : undefined;
}

function quoteValue({ parts }: Value): string {
  return quote(parts.join("*"));
}

function refuse({ column }: Value, problem: string): never {
  throw errorAt("filter", column, problem);
}
