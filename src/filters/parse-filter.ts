// The filter grammar of AIP-160 (https://google.aip.dev/160), with explicit white space:
//
//   filter      = [ expression ] ;
//   expression  = sequence { WS "AND" WS sequence } ;
//   sequence    = factor { WS factor } ;
//   factor      = term { WS "OR" WS term } ;
//   term        = [ "NOT" WS | "-" ] simple ;
//   simple      = restriction | composite ;
//   restriction = comparable [ comparator arg ] ;             ; white space around the comparator is free
//   comparator  = "<=" | "<" | ">=" | ">" | "!=" | "=" | ":" ;
//   comparable  = member | function ;
//   member      = value { "." field } ;
//   function    = name { "." name } "(" [ arg { "," arg } ] ")" ;
//   composite   = "(" expression ")" ;                        ; white space inside of the parentheses is free
//   arg         = comparable | composite ;
//   value       = TEXT | STRING ;
//   field       = value | keyword ;
//   name        = TEXT | keyword ;                            ; a keyword only after a dot
//   keyword     = "AND" | "OR" | "NOT" ;
//
// OR binds tighter than AND. Adjacent factors form a sequence, which means AND and binds tighter than the keyword AND. A STRING
// is in double or single quotes. A TEXT ends at white space, at `!=` or at one of `.,()=<>:`. It does not start with a quote
// nor, on the left of a comparator, with "-". On the right of a comparator, a TEXT may contain ":" (as times do) and start with
// "-". In an expression in place of a value, "-" starts a number if a digit follows, and is a negation otherwise. In a TEXT and
// a STRING, `*` is a wildcard and `\` escapes: \\ \" \' \* \n \r \t \uXXXX.
import { errorIn } from "./error-at.ts";
import { type Scanner, type ValuePlace, createScanner } from "./scanner.ts";
import {
  type Argument,
  type Comparable,
  type Comparator,
  type FilterNode,
  type Value,
  comparators,
} from "./syntax-tree.ts";

const maxLength = 4096;
const maxDepth = 32;
const maxRestrictions = 100;

interface Parser {
  readonly scanner: Scanner;
  /** The position of terms: "right" in an expression in place of a value. */
  place: ValuePlace;
  depth: number;
  /** The number of restrictions so far. An argument of a function counts as one. */
  restrictions: number;
}

/**
 * Parses a filter of at most 4096 characters, 100 restrictions and 32 levels of parentheses.
 *
 * @returns undefined for a filter that is empty or only white space.
 * @throws ServiceError FIELD_INVALID that names the column and what was expected there.
 */
export function parseFilter(text: string): FilterNode | undefined {
  if (text.length > maxLength) throw errorIn("filter", `must be at most ${maxLength} characters long`);
  const scanner = createScanner(text);
  scanner.skipSpace();
  if (scanner.isAtEnd()) return undefined;
  const node = parseExpression({ scanner, place: "left", depth: 0, restrictions: 0 });
  if (!scanner.isAtEnd()) scanner.fail(`expected AND, OR, another term or the end, got ${scanner.describeNext()}`);
  return node;
}

// The following functions skip white space after what they read.

function parseExpression(parser: Parser): FilterNode {
  const nodes = [parseSequence(parser)];
  while (acceptOperator(parser.scanner, "AND")) nodes.push(parseSequence(parser));
  return join("and", nodes);
}

function parseSequence(parser: Parser): FilterNode {
  const { scanner } = parser;
  const nodes = [parseFactor(parser)];
  while (!scanner.isAtEnd() && !scanner.startsWith(")") && !scanner.startsWith(",") && scanner.keyword() !== "AND") {
    if (!scanner.isSpaced()) scanner.fail(`expected a space, ")" or the end, got ${scanner.describeNext()}`);
    nodes.push(parseFactor(parser));
  }
  return join("and", nodes);
}

function parseFactor(parser: Parser): FilterNode {
  const nodes = [parseTerm(parser)];
  while (acceptOperator(parser.scanner, "OR")) nodes.push(parseTerm(parser));
  return join("or", nodes);
}

function parseTerm(parser: Parser): FilterNode {
  const { scanner } = parser;
  if (scanner.keyword() === "NOT") {
    scanner.accept("NOT");
    skipRequiredSpace(scanner, "NOT");
    return { kind: "not", node: parseSimple(parser) };
  }
  const isNumber = parser.place === "right" && scanner.isNegativeNumber();
  return !isNumber && scanner.accept("-") ? { kind: "not", node: parseSimple(parser) } : parseSimple(parser);
}

function parseSimple(parser: Parser): FilterNode {
  return parser.scanner.startsWith("(") ? parseComposite(parser) : parseRestriction(parser);
}

function parseComposite(parser: Parser): FilterNode {
  const { scanner } = parser;
  const column = enter(parser);
  scanner.skipSpace();
  const node = parseExpression(parser);
  leave(parser, column, "expected AND, OR, another term");
  scanner.skipSpace();
  return node;
}

function parseRestriction(parser: Parser): FilterNode {
  const { scanner } = parser;
  countRestriction(parser);
  const comparable = parseComparable(parser, parser.place, "a term");
  scanner.skipSpace();
  const column = scanner.column();
  const comparator = comparators.find((candidate) => scanner.accept(candidate));
  if (comparator === undefined) return { kind: "global", comparable };
  scanner.skipSpace();
  const argument = parseArgument(parser, comparator);
  scanner.skipSpace();
  return { kind: "restriction", comparable, comparator, column, argument };
}

function parseArgument(parser: Parser, after: Comparator | "(" | ","): Argument {
  const { scanner } = parser;
  const column = scanner.column();
  if (scanner.startsWith("(")) {
    const outer = parser.place;
    parser.place = "right";
    const node = parseComposite(parser);
    parser.place = outer;
    return { kind: "composite", node, column };
  }
  return parseComparable(parser, "right", `a value after "${after}"`);
}

function parseComparable(parser: Parser, place: ValuePlace, expected: string): Comparable {
  const { scanner } = parser;
  const column = scanner.column();
  const keyword = scanner.keyword();
  if (keyword !== undefined)
    scanner.fail(`expected ${expected}, got the keyword ${keyword}; quote it to use it as a word`);
  if (place === "left" && scanner.startsWith("-")) scanner.fail(`expected ${expected}, got "-"`);
  const values: [Value, ...Value[]] = [parseValue(scanner, place, expected)];
  while (scanner.accept(".")) values.push(parseValue(scanner, place, 'a field after "."'));
  if (!scanner.startsWith("(") || values.some((value) => value.quoted)) return { kind: "member", values, column };
  const name = values.map((value) => value.parts.join("*")).join(".");
  parseFunctionArguments(parser);
  return { kind: "function", name, column };
}

function parseValue(scanner: Scanner, place: ValuePlace, expected: string): Value {
  const value = scanner.readValue(place);
  if (value.column === scanner.column()) scanner.fail(`expected ${expected}, got ${scanner.describeNext()}`);
  return value;
}

/** Parses and discards the arguments of a function. No function is supported. */
function parseFunctionArguments(parser: Parser): void {
  const { scanner } = parser;
  const column = enter(parser);
  scanner.skipSpace();
  let after: "(" | "," = "(";
  while (after === "," || !scanner.startsWith(")")) {
    countRestriction(parser);
    parseArgument(parser, after);
    scanner.skipSpace();
    if (!scanner.accept(",")) break;
    scanner.skipSpace();
    after = ",";
  }
  leave(parser, column, 'expected ","');
}

function countRestriction(parser: Parser): void {
  if (++parser.restrictions <= maxRestrictions) return;
  parser.scanner.fail(`at most ${maxRestrictions} restrictions are allowed`);
}

function enter(parser: Parser): number {
  const column = parser.scanner.column();
  if (++parser.depth > maxDepth) parser.scanner.fail(`parentheses may be nested at most ${maxDepth} deep`);
  parser.scanner.accept("(");
  return column;
}

function leave(parser: Parser, opened: number, expected: string): void {
  const { scanner } = parser;
  parser.depth--;
  if (scanner.accept(")")) return;
  scanner.fail(`${expected} or the ")" for column ${opened}, got ${scanner.describeNext()}`);
}

function acceptOperator(scanner: Scanner, operator: "AND" | "OR"): boolean {
  if (scanner.keyword() !== operator) return false;
  if (!scanner.isSpaced()) scanner.fail(`expected a space before ${operator}`);
  scanner.accept(operator);
  skipRequiredSpace(scanner, operator);
  return true;
}

function skipRequiredSpace(scanner: Scanner, after: string): void {
  const column = scanner.column();
  scanner.skipSpace();
  if (!scanner.isSpaced() && !scanner.isAtEnd())
    scanner.fail(`expected a space after ${after}, got ${scanner.describeNext()}`, column);
}

function join(kind: "and" | "or", nodes: readonly FilterNode[]): FilterNode {
  const [first] = nodes;
  return nodes.length === 1 && first !== undefined ? first : { kind, nodes };
}
