import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Condition, Operand } from "./condition.ts";
import { foldCase } from "./fold-case.ts";
import { type LabelTest, takeLabelTests } from "./label-tests.ts";
import { scalarTypes } from "./scalar-types.ts";

/** A filter as a WHERE condition, and also split into two parts. */
export interface FilterSql extends RawBuilder<SqlBool> {
  /** The part that the label index answers. */
  readonly labels: readonly LabelTest[];
  readonly others: RawBuilder<SqlBool>;
  /** Whether it matches everything. */
  readonly isEmpty: boolean;
}

export function toSql(condition: Condition): FilterSql {
  const { labels, others } = takeLabelTests(condition);
  const isEmpty = condition.kind === "all" && condition.conditions.length === 0;
  return Object.assign(render(condition), { labels, others: render(others), isEmpty });
}

/** Returns a filter that also requires another condition. */
export function restrictedBy(filter: FilterSql, condition: RawBuilder<SqlBool>): FilterSql {
  const { labels, others } = filter;
  const both = (one: RawBuilder<SqlBool>) => sql<SqlBool>`(${one} and ${condition})`;
  return Object.assign(both(filter), { labels, others: both(others), isEmpty: false });
}

/**
 * Renders a condition for WHERE. Every value from the filter is a parameter, so the text of the statement depends only on the
 * filter's shape.
 *
 * A restriction on an absent operand is null in SQL. In WHERE, under `and` and `or`, null has the same effect as false. `not`
 * is rendered so that it treats null as false.
 */
function render(condition: Condition): RawBuilder<SqlBool> {
  switch (condition.kind) {
    case "all":
      return joined(condition.conditions, sql` and `, sql<SqlBool>`true`);
    case "any":
      return joined(condition.conditions, sql` or `, sql<SqlBool>`false`);
    case "not":
      return sql`(${render(condition.condition)} is not true)`;
    case "present":
      return isPresent(condition.operand);
    case "compare":
      return compare(condition.operand, condition.comparator, condition.value);
    case "like": {
      const like = condition.negated ? sql`not like` : sql`like`;
      return sql`(${read(condition.operand)} ${like} ${condition.parts.map(escapeLike).join("%")})`;
    }
    case "contains":
      return contains(condition.operand, condition.parts);
  }
}

function joined(conditions: readonly Condition[], by: Expression<unknown>, none: RawBuilder<SqlBool>) {
  if (conditions.length === 0) return none;
  return sql<SqlBool>`(${sql.join(conditions.map(render), by as RawBuilder<unknown>)})`;
}

/**
 * Renders a search regardless of case, whatever the locale of the database: the collation "C" folds ASCII only.
 *
 * The planner takes half of the rows to match CASE, and few to match LIKE, for which it would rather find and sort all of them than
 * walk through them in their order until a page is full. A word that nearly all rows have would then cost as much as a rare one.
 */
function contains(operand: Operand, parts: readonly string[]): RawBuilder<SqlBool> {
  const { text, from, to } = foldCase(parts.map(escapeLike).join("%"));
  const lower = sql`lower(${read(operand)} collate "C")`;
  const folded = from === "" ? lower : sql`translate(${lower}, ${from}, ${to})`;
  return sql`(case when ${folded} like ${`%${text}%`} then true end)`;
}

function read(operand: Operand): Expression<unknown> {
  return operand.kind === "entry" ? sql`(${operand.value} ->> ${operand.key}::text)` : operand.value;
}

function isPresent(operand: Operand): RawBuilder<SqlBool> {
  if (operand.kind === "text") return sql`(${operand.value} <> '')`;
  if (operand.kind === "textMap") return sql`(${operand.value} <> '{}')`;
  const zero = operand.kind === "scalar" ? scalarTypes[operand.type].zero : undefined;
  return zero === undefined ? sql`(${read(operand)} is not null)` : sql`(${operand.value} <> ${sql.lit(zero)})`;
}

/** Renders a comparison. Texts are ordered by code point, whatever the collation of the database. */
function compare(operand: Operand, comparator: string, value: string): RawBuilder<SqlBool> {
  if (operand.kind === "text" && operand.equals !== undefined && value !== "") {
    if (comparator === "=") return operand.equals(value);
    if (comparator === "!=") return sql`(${operand.value} is not null and ${operand.equals(value)} is not true)`;
  }
  const operator = sql.raw(comparator === "!=" ? "<>" : comparator);
  const isOrder = comparator !== "=" && comparator !== "!=";
  if (operand.kind === "scalar") {
    return sql`(${operand.value} ${operator} ${value}::${sql.raw(scalarTypes[operand.type].sqlType)})`;
  }
  return isOrder
    ? sql`(${read(operand)} collate "C" ${operator} ${value})`
    : sql`(${read(operand)} ${operator} ${value})`;
}

/** Escapes a part of a LIKE pattern. Backslash is the default escape character. */
function escapeLike(part: string): string {
  return part.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
