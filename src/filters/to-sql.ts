import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Condition, Operand } from "./condition.ts";
import { type LabelTest, takeLabelTests } from "./label-tests.ts";
import { scalarTypes } from "./scalar-types.ts";

/** A filter for a `where`, and the same in two parts. */
export interface FilterSql extends RawBuilder<SqlBool> {
  /** The part that the index of labels answers. */
  readonly labels: readonly LabelTest[];
  readonly others: RawBuilder<SqlBool>;
}

export function toSql(condition: Condition): FilterSql {
  const { labels, others } = takeLabelTests(condition);
  return Object.assign(render(condition), { labels, others: render(others) });
}

/**
 * The condition for a `where`. All that comes from the filter is a parameter, so the text of the statement depends on the
 * filter's shape alone.
 *
 * A restriction on something absent is null in SQL. That is as good as false under `and` and `or` in a `where`, and `not` is
 * written so that it takes null for false; nothing else needs to know.
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
      return sql`(${read(condition.operand)} ilike ${`%${condition.parts.map(escapeLike).join("%")}%`})`;
  }
}

function joined(conditions: readonly Condition[], by: Expression<unknown>, none: RawBuilder<SqlBool>) {
  if (conditions.length === 0) return none;
  return sql<SqlBool>`(${sql.join(conditions.map(render), by as RawBuilder<unknown>)})`;
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

/** Texts are ordered by their code points on every server, whatever the database's collation. */
function compare(operand: Operand, comparator: string, value: string): RawBuilder<SqlBool> {
  const operator = sql.raw(comparator === "!=" ? "<>" : comparator);
  const isOrder = comparator !== "=" && comparator !== "!=";
  if (operand.kind === "scalar") {
    return sql`(${operand.value} ${operator} ${value}::${sql.raw(scalarTypes[operand.type].sqlType)})`;
  }
  return isOrder
    ? sql`(${read(operand)} collate "C" ${operator} ${value})`
    : sql`(${read(operand)} ${operator} ${value})`;
}

/** A backslash is LIKE's escape where none is named. */
function escapeLike(part: string): string {
  return part.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
