// Random filters: each has its text, and a predicate with the same meaning in plain code, which uses nothing of src/filters.
import * as fc from "fast-check";
import type { Thing } from "./things.ts";

export interface RandomFilter {
  readonly text: string;
  readonly matches: (row: Thing) => boolean;
}

interface Part extends RandomFilter {
  /** The operator at the top, which determines where the part needs parentheses. */
  readonly kind: "and" | "or" | "not" | "leaf";
  /** The number of substring searches. */
  readonly searches: number;
}

const letters = [
  "a",
  "b",
  "A",
  "B",
  "ä",
  "Ä",
  "é",
  "σ",
  "ς",
  "Σ",
  "ß",
  "ẞ",
  "😀",
  "*",
  "%",
  "_",
  "\\",
  "'",
  '"',
  " ",
  ".",
  ":",
  "-",
  "(",
];
const word = fc.string({ unit: fc.constantFrom(...letters), maxLength: 3 });
const parts = fc.oneof(
  { weight: 2, arbitrary: word.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(word, { minLength: 2, maxLength: 3 }) },
);
const instants = ["2025-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"].map(
  (text) => new Date(text),
);
const instant = fc.constantFrom(...instants);
const keys = ["env", "a/b", "with.dot", "null", "é*"];
const key = fc.constantFrom(...keys);
const kind = fc.constantFrom("cores", "ram");
const states = ["INVITED", "ACTIVE", "SUSPENDED"] as const;
const types = ["USER", "APPLICATION"] as const;
const count = fc.integer({ min: -2, max: 2 });
const ratio = fc.constantFrom(-1.5, 0, 1, 2.5e9);
const patience = fc.constantFrom(-1.5, 0, 20);

export const randomThing: fc.Arbitrary<Thing> = fc
  .record({
    id: fc.uuid(),
    name: word,
    display_name: word,
    description: word,
    labels: fc.dictionary(key, word, { maxKeys: 3, noNullPrototype: true }),
    type: fc.constantFrom(...types),
    state: fc.constantFrom(...states),
    create_time: instant,
    update_time: instant,
    delete_time: fc.option(instant),
    count,
    ratio,
    enabled: fc.boolean(),
    patience: fc.option(patience),
    amounts: fc.dictionary(kind, ratio, { maxKeys: 3, noNullPrototype: true }),
  })
  .map((row) => ({ ...row, purge_time: row.delete_time }));

const space = fc.constantFrom("", " ", "\n ");
const orders = ["=", "!=", "<", "<=", ">", ">="] as const;
type Order = (typeof orders)[number];

function holds(order: Order, difference: number): boolean {
  switch (order) {
    case "=":
      return difference === 0;
    case "!=":
      return difference !== 0;
    case "<":
      return difference < 0;
    case "<=":
      return difference <= 0;
    case ">":
      return difference > 0;
    case ">=":
      return difference >= 0;
  }
}

const compareTexts = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);

const between = (texts: readonly string[]): string => texts.map(escapePattern).join("[^]*");

const isLike = (text: string, pattern: readonly string[]): boolean =>
  new RegExp(`^${between(pattern)}$`, "u").test(text);

/** Writes a value in quotes, or without them if the grammar allows it. */
const written = (value: readonly string[], place: "left" | "right"): fc.Arbitrary<string> =>
  fc.constantFrom('"', "'", "").map((mark) => {
    const text = value.map((one) => one.replace(/[\\*]/g, String.raw`\$&`)).join("*");
    const isBare = place === "left" ? /^[^\s.:()'"-][^\s.:()]*$/u : /^[^\s.()'"][^\s.()]*$/u;
    if (mark === "" && isBare.test(text)) return text;
    const quotation = mark === "" ? '"' : mark;
    return `${quotation}${text.replaceAll(quotation, `\\${quotation}`)}${quotation}`;
  });

const restriction = (field: string, comparator: string, value: fc.Arbitrary<string>) =>
  fc.tuple(space, space, value).map(([before, after, argument]) => `${field}${before}${comparator}${after}${argument}`);

const leaf = (text: fc.Arbitrary<string>, matches: RandomFilter["matches"]): fc.Arbitrary<Part> =>
  text.map((one) => ({ kind: "leaf", text: one, matches, searches: 0 }));

const searching = (part: fc.Arbitrary<Part>): fc.Arbitrary<Part> => part.map((one) => ({ ...one, searches: 1 }));

const searchesOf = (children: readonly Part[]): number => children.reduce((sum, child) => sum + child.searches, 0);

/** Equality with wildcards, also with several values: `a = (x OR y)`. */
function equality(field: string, read: (row: Thing) => string | undefined): fc.Arbitrary<Part> {
  const one = fc.tuple(fc.constantFrom("=", "!="), parts).chain(([comparator, value]) =>
    leaf(restriction(field, comparator, written(value, "right")), (row) => {
      const text = read(row);
      return text !== undefined && isLike(text, value) === (comparator === "=");
    }),
  );
  const several = fc
    .tuple(
      fc.constantFrom("=", "!="),
      fc.constantFrom(" OR ", " AND ", " "),
      fc.array(parts, { minLength: 2, maxLength: 3 }),
    )
    .chain(([comparator, operator, values]) => {
      const list = fc
        .tuple(...values.map((value) => written(value, "left")))
        .map((texts) => `(${texts.join(operator)})`);
      return leaf(restriction(field, comparator, list), (row) => {
        const text = read(row);
        if (text === undefined) return false;
        const isOne = (value: readonly string[]) => isLike(text, value);
        return (operator === " OR " ? values.some(isOne) : values.every(isOne)) === (comparator === "=");
      });
    });
  return fc.oneof({ weight: 3, arbitrary: one }, { weight: 1, arbitrary: several });
}

function ordered<Value>(
  field: string,
  value: fc.Arbitrary<Value>,
  write: (value: Value) => fc.Arbitrary<string>,
  difference: (row: Thing, value: Value) => number | undefined,
): fc.Arbitrary<Part> {
  return fc.tuple(fc.constantFrom(...orders), value).chain(([order, wanted]) =>
    leaf(restriction(field, order, write(wanted)), (row) => {
      const found = difference(row, wanted);
      return found !== undefined && holds(order, found);
    }),
  );
}

function textLeaf(field: "name" | "display_name" | "description"): fc.Arbitrary<Part> {
  return fc.oneof(
    equality(field, (row) => row[field]),
    ordered(
      field,
      word,
      (value) => written([value], "right"),
      (row, value) => compareTexts(row[field], value),
    ),
    parts
      .filter((value) => value.length !== 2 || value.join("") !== "")
      .chain((value) =>
        searching(leaf(restriction(field, ":", written(value, "right")), (row) => hasWord(row[field], value))),
      ),
    leaf(fc.constant(`${field}:*`), (row) => row[field] !== ""),
  );
}

const hasWord = (text: string, value: readonly string[]): boolean => new RegExp(between(value), "iu").test(text);

function searchLeaf(): fc.Arbitrary<Part> {
  return parts.chain((value) =>
    searching(
      leaf(written(value, "left"), (row) => {
        const texts = [row.name, row.display_name, row.description];
        const isAny = value.length === 2 && value.join("") === "";
        return texts.some((text) => (isAny ? text !== "" : hasWord(text, value)));
      }),
    ),
  );
}

function labelLeaf(): fc.Arbitrary<Part> {
  const quotedKey = (name: string) =>
    name === "a/b" || name === "env" ? name : `"${name.replace("*", String.raw`\*`)}"`;
  return fc.oneof(
    key.chain((name) => equality(`labels.${quotedKey(name)}`, (row) => row.labels[name])),
    key.chain((name) => leaf(fc.constant(`labels:${quotedKey(name)}`), (row) => row.labels[name] !== undefined)),
    key.chain((name) => leaf(fc.constant(`labels.${quotedKey(name)}:*`), (row) => row.labels[name] !== undefined)),
    leaf(fc.constant("labels:*"), (row) => Object.keys(row.labels).length > 0),
  );
}

/** Nanoseconds since the first instant: finer than the milliseconds of Date. */
const nanoseconds = (date: Date): number => (date.getTime() - (instants[0]?.getTime() ?? 0)) * 1e6;

function timeLeaf(field: "create_time" | "delete_time"): fc.Arbitrary<Part> {
  const value = fc.tuple(instant, fc.constantFrom(0, 0, 1, 500, 999_000, 999_999), fc.integer({ min: -840, max: 840 }));
  const write = ([date, extra, offset]: [Date, number, number]): fc.Arbitrary<string> => {
    const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
    const digits = extra === 0 ? "" : String(extra).padStart(6, "0");
    const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
      String(part).padStart(2, "0"),
    );
    const zone = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
    return fc.constantFrom("", '"').map((mark) => `${mark}${local}${digits}${zone}${mark}`);
  };
  return fc.oneof(
    { weight: 4, arbitrary: ordered(field, value, write, (row, [date, extra]) => difference(row[field], date, extra)) },
    { weight: 1, arbitrary: leaf(fc.constantFrom(`${field}:*`, `${field} != null`), (row) => row[field] !== null) },
    { weight: 1, arbitrary: leaf(fc.constant(`${field} = null`), (row) => row[field] === null) },
  );
}

const difference = (found: Date | null, date: Date, extra: number): number | undefined =>
  found === null ? undefined : nanoseconds(found) - (nanoseconds(date) + extra);

function enumLeaf(): fc.Arbitrary<Part> {
  const choose = (field: string, names: readonly string[], read: (row: Thing) => string) =>
    fc
      .tuple(fc.constantFrom("=", "!=", ":"), fc.constantFrom(...names))
      .chain(([comparator, name]) =>
        leaf(restriction(field, comparator, fc.constantFrom(name, `"${name}"`)), (row) =>
          comparator === "!=" ? read(row) !== name : read(row) === name,
        ),
      );
  return fc.oneof(
    choose("type", types, (row) => row.type),
    choose("state", [...states, "DELETED"], (row) => (row.delete_time === null ? row.state : "DELETED")),
    choose("enabled", ["true", "false"], (row) => String(row.enabled)),
    leaf(fc.constant("enabled:*"), (row) => row.enabled),
  );
}

function numberLeaf(): fc.Arbitrary<Part> {
  const write = (value: number) => fc.constantFrom(String(value), `"${value}"`);
  return fc.oneof(
    ordered("count", count, write, (row, value) => row.count - value),
    ordered("ratio", ratio, write, (row, value) => row.ratio - value),
    ordered(
      "patience",
      patience,
      (value) => fc.constant(`${value}s`),
      (row, value) => (row.patience === null ? undefined : row.patience - value),
    ),
    kind.chain((name) =>
      fc.oneof(
        ordered(`amounts.${name}`, ratio, write, (row, value) => {
          const amount = row.amounts[name];
          return amount === undefined ? undefined : amount - value;
        }),
        leaf(fc.constantFrom(`amounts:${name}`, `amounts.${name}:*`), (row) => row.amounts[name] !== undefined),
      ),
    ),
    leaf(fc.constant("amounts:*"), (row) => Object.keys(row.amounts).length > 0),
    leaf(fc.constant("count:*"), (row) => row.count !== 0),
    leaf(fc.constant("ratio:*"), (row) => row.ratio !== 0),
    leaf(fc.constant("patience:*"), (row) => row.patience !== null),
  );
}

const inParentheses = ({ text }: Part): fc.Arbitrary<string> =>
  fc.tuple(space, space).map(([before, after]) => `(${before}${text}${after})`);

/** Writes a part in parentheses if it needs them, and sometimes if it does not. */
const asPart = (part: Part, needsThem: boolean): fc.Arbitrary<string> =>
  needsThem ? inParentheses(part) : fc.oneof({ weight: 3, arbitrary: fc.constant(part.text) }, inParentheses(part));

const allOf = (children: readonly Part[]): fc.Arbitrary<Part> =>
  fc
    .tuple(
      fc.tuple(...children.map((child) => asPart(child, false))),
      fc.array(fc.constantFrom(" AND ", " ", "\n"), { minLength: children.length, maxLength: children.length }),
    )
    .map(([texts, operators]) => ({
      kind: "and",
      searches: searchesOf(children),
      text: texts.map((text, index) => (index === 0 ? text : `${operators[index]}${text}`)).join(""),
      matches: (row) => children.every((child) => child.matches(row)),
    }));

const anyOf = (children: readonly Part[]): fc.Arbitrary<Part> =>
  fc.tuple(...children.map((child) => asPart(child, child.kind === "and"))).map((texts) => ({
    kind: "or",
    searches: searchesOf(children),
    text: texts.join(" OR "),
    matches: (row) => children.some((child) => child.matches(row)),
  }));

const notOf = (child: Part): fc.Arbitrary<Part> =>
  fc.tuple(fc.constantFrom("NOT ", "-"), asPart(child, child.kind !== "leaf")).map(([operator, text]) => ({
    kind: "not",
    searches: child.searches,
    text: `${operator}${text}`,
    matches: (row) => !child.matches(row),
  }));

export function randomFilter(): fc.Arbitrary<RandomFilter> {
  const leaves = fc.oneof(
    { weight: 2, arbitrary: textLeaf("name") },
    textLeaf("description"),
    searchLeaf(),
    { weight: 2, arbitrary: labelLeaf() },
    timeLeaf("create_time"),
    timeLeaf("delete_time"),
    enumLeaf(),
    numberLeaf(),
  );
  const { filter } = fc.letrec<{ filter: Part }>((tie) => {
    const children = fc.array(tie("filter"), { minLength: 2, maxLength: 3 });
    return {
      filter: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        { weight: 2, arbitrary: leaves },
        { weight: 1, arbitrary: tie("filter").chain(notOf) },
        { weight: 2, arbitrary: children.chain(allOf) },
        { weight: 2, arbitrary: children.chain(anyOf) },
      ),
    };
  });
  return filter.filter(({ searches }) => searches <= 10);
}
