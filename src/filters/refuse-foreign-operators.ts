// What is an operator in other languages is a word in AIP-160, and finds nothing. Where it cannot have been meant as a word, the
// filter is refused. A word in quotes is a word anywhere.
import { errorAt } from "./error-at.ts";
import type { FilterFields } from "./filter-fields.ts";
import type { Argument, FilterNode, Value } from "./syntax-tree.ts";

/** What to write instead, by the operator in lower case. */
const operators: Readonly<Record<string, string>> = {
  and: "AND",
  or: "OR",
  not: "NOT",
  "&&": "AND",
  "||": "OR",
};
const symbols: ReadonlySet<string> = new Set(["&&", "||"]);
const comparators: ReadonlySet<string> = new Set(["like", "ilike", "in", "is"]);

/** A term in the order of the text: a comparison, or a word. */
type Term = "comparison" | Value;

/**
 * Refuses `&&` and `||`, `and`, `or` and `not` beside a comparison or between values, and `LIKE`, `IN` and `IS` after a field.
 *
 * @throws ServiceError FIELD_INVALID that says what to write instead.
 */
export function refuseForeignOperators(filter: FilterNode, fields: FilterFields): void {
  const terms = termsOf(filter);
  for (const [index, term] of terms.entries()) {
    const word = wordOf(term);
    if (term === "comparison" || word === undefined) continue;
    const [before, after] = [terms[index - 1], terms[index + 1]];
    const instead = insteadOf(word);
    if (instead !== undefined && (symbols.has(word) || before === "comparison" || after === "comparison")) {
      refuseOperator(term, word, instead);
    }
    const field = wordOf(before);
    if (field !== undefined && Object.hasOwn(fields, field) && comparators.has(word.toLowerCase())) {
      throw errorAt(
        "filter",
        term.column,
        `${word} is no comparator; write ${field} = "a*" for texts with wildcards, ${field}:a for a part, or ` +
          `${field} = (a OR b) for several values; quote ${word} to search for the word`,
      );
    }
  }
}

function refuseOperator({ column }: Value, word: string, instead: string): never {
  throw errorAt("filter", column, `${word} is no operator; write ${instead}, or quote ${word} to use it as a word`);
}

function insteadOf(word: string): string | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(operators, name) ? operators[name] : undefined;
}

function wordOf(term: Term | undefined): string | undefined {
  return term === undefined || term === "comparison" || term.quoted ? undefined : term.parts.join("*");
}

function termsOf(node: FilterNode): Term[] {
  switch (node.kind) {
    case "and":
    case "or":
      return node.nodes.flatMap(termsOf);
    case "not":
      return termsOf(node.node);
    case "restriction":
      refuseBetweenValues(node.argument);
      return ["comparison"];
    case "global":
      return node.comparable.kind === "member" && node.comparable.values.length === 1
        ? [node.comparable.values[0]]
        : ["comparison"];
  }
}

/** In `name = (a or b)`, all three are values. */
function refuseBetweenValues(argument: Argument): void {
  if (argument.kind !== "composite") return;
  for (const term of termsOf(argument.node)) {
    const word = wordOf(term);
    const instead = word === undefined ? undefined : insteadOf(word);
    if (term !== "comparison" && word !== undefined && instead !== undefined) refuseOperator(term, word, instead);
  }
}
