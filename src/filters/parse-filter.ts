// The grammar of filters, that of AIP-160 (https://google.aip.dev/160) with the white space as it is read here:
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
// So OR binds tighter than AND, and what stands side by side is a sequence, which binds tighter than AND too and means the
// same. A STRING is in double or single quotes; a TEXT is anything up to white space or one of `.,()=<>:` or `!=`, does not
// start with a quote, and on the left of a comparator not with "-". On the right a TEXT may hold ":", as times do, and start
// with "-"; in an expression that stands for a value, only a number starts with it, anything else is negated by it. In a
// TEXT and in a STRING `*` is a wildcard and `\` escapes: \\ \" \' \* \n \r \t \uXXXX.
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
  /** Where terms stand: on the right in an expression that stands for a value. */
  place: ValuePlace;
  /** How many parentheses are open. */
  depth: number;
  /** How many restrictions there were; an argument of a function counts as one. */
  restrictions: number;
}

/**
 * Reads a filter of at most 4096 characters, 100 restrictions and 32 levels of parentheses.
 *
 * @returns undefined for a filter that is empty or white space.
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

// Each of these skips the white space after what it has read.

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
  if (keyword !== undefined) scanner.fail(`expected ${expected}, got ${keyword}, which is a word only in quotes`);
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

/** No function is known, so nothing is kept of its arguments. */
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
  parser.scanner.fail(`there may be at most ${maxRestrictions} restrictions`);
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
