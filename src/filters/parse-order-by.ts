// The grammar of `order_by` (AIP-132):
//
//   order_by = [ item { "," item } ] ;
//   item     = field [ SPACE direction ] ;
//   direction = "asc" | "desc" ;            ; ascending is the default
//
// Further spaces are allowed anywhere between tokens.
import { errorAt, errorIn, quote } from "./error-at.ts";
import type { FilterFields, Order } from "./filter-fields.ts";

/** A column by which rows are ordered. */
export interface OrderKey extends Order {
  readonly descending: boolean;
}

const maxLength = 1024;
const maxKeys = 3;

/**
 * Parses the `order_by` of a List request: at most 3 orderable fields, each at most once.
 *
 * @returns the columns in order; empty for an empty text.
 * @throws ServiceError FIELD_INVALID that names the column and what was expected there.
 */
export function parseOrderBy(text: string, fields: FilterFields): readonly OrderKey[] {
  if (text.length > maxLength) throw errorIn("order_by", `must be at most ${maxLength} characters long`);
  let at = 0;

  function fail(problem: string, position = at): never {
    throw errorAt("order_by", Array.from(text.slice(0, position)).length + 1, problem);
  }

  function skipSpaces(): void {
    while (text[at] === " ") at++;
  }

  function readWord(): string {
    const start = at;
    while (at < text.length && text[at] !== " " && text[at] !== ",") at++;
    return text.slice(start, at);
  }

  function parseField(): Order {
    const start = at;
    const name = readWord();
    const order = Object.hasOwn(fields, name) ? orderOf(fields, name) : undefined;
    if (order !== undefined) return order;
    const got = name === "" ? (at === text.length ? "the end" : `"${text[at]}"`) : quote(name);
    return fail(`expected one of the fields ${listOrderable(fields)}, got ${got}`, start);
  }

  function parseDirection(): boolean {
    if (at === text.length || text[at] === ",") return false;
    const start = at;
    const direction = readWord();
    if (direction !== "asc" && direction !== "desc") fail(`expected desc, asc or ",", got ${quote(direction)}`, start);
    skipSpaces();
    return direction === "desc";
  }

  const keys: OrderKey[] = [];
  skipSpaces();
  if (at === text.length) return keys;
  for (;;) {
    skipSpaces();
    const start = at;
    const order = parseField();
    if (keys.some((key) => key.column === order.column)) fail("the field is repeated", start);
    if (keys.length === maxKeys) fail(`at most ${maxKeys} fields are allowed`, start);
    skipSpaces();
    keys.push({ ...order, descending: parseDirection() });
    if (at === text.length) return keys;
    const end = at;
    if (text[at++] !== ",") fail(`expected "," or the end, got ${quote(text.slice(end))}`, end);
  }
}

function orderOf(fields: FilterFields, name: string): Order | undefined {
  const field = fields[name];
  return field !== undefined && "order" in field ? field.order : undefined;
}

function listOrderable(fields: FilterFields): string {
  return Object.keys(fields)
    .filter((name) => orderOf(fields, name) !== undefined)
    .toSorted()
    .join(", ");
}
