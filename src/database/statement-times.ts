// How often statements run, and how long they take, by names of which there are few: those of lookups, and otherwise what a statement
// does with which table. Values are never part of a text, so no name has anything of a caller.

/** What a statement is named by. */
interface NamedStatement {
  /** The name of a lookup: `find_api_keys`. */
  readonly lookup?: string | undefined;
  readonly text: string;
}

interface StatementTime {
  count: number;
  /** From when they were sent to when their answers came, in milliseconds. Those that are sent together wait for each other. */
  totalMs: number;
}

export interface StatementTimes {
  /** Notes a statement that has ended, also with an error. */
  note(statement: NamedStatement, ms: number): void;
  /** Notes a statement that found no room on a disk of the server. */
  noteDiskFull(): void;
  /** How many did. */
  foundDiskFull(): number;
  /** Returns the times by name. */
  entries(): Iterable<readonly [string, Readonly<StatementTime>]>;
}

/** There are some three hundred. */
const maxNames = 500;
/** The texts whose names are known. They are forgotten together when there are more. */
const maxTexts = 1_000;
/** Longer texts come from batches, and differ with the number of items. */
const maxLength = 4_096;

export function createStatementTimes(): StatementTimes {
  const byName = new Map<string, StatementTime>();
  const byText = new Map<string, StatementTime>();
  let foundDiskFull = 0;

  const named = (name: string): StatementTime => {
    const key = byName.has(name) || byName.size < maxNames ? name : "_OTHER";
    let time = byName.get(key);
    if (time === undefined) byName.set(key, (time = { count: 0, totalMs: 0 }));
    return time;
  };

  const ofText = (text: string): StatementTime => {
    const known = byText.get(text);
    if (known !== undefined) return known;
    const time = named(nameStatement(text));
    // The limits of a transaction are in the text of its beginning, so there are many of those.
    if (text.length > maxLength || !onTables.test(text)) return time;
    if (byText.size >= maxTexts) byText.clear();
    byText.set(text, time);
    return time;
  };

  return {
    note({ lookup, text }, ms) {
      const time = lookup === undefined ? ofText(text) : named(lookup);
      time.count++;
      time.totalMs += ms;
    },
    noteDiskFull: () => void foundDiskFull++,
    foundDiskFull: () => foundDiskFull,
    entries: () => byName,
  };
}

const onTables = /^\s*(?:select|insert|update|delete|with)\b/i;

/** What changes a table, but for the ends of `select ... for update` and `on conflict do update`. */
const change = /\b(insert\s+into|(?<!\b(?:for|key|do)\s)update|delete\s+from)\s+"?(\w+)/i;

/** What is read, but for functions and selects in brackets. */
const sources = /\b(?:from|join)\s+"?(\w+)"?(?![\w"]|\s*[([])/gi;

/** The names that `with` gives to selects. */
const namedSelects = /"?(\w+)"?\s*(?:\([^()]*\)\s*)?as\s+(?:not\s+)?(?:materialized\s+)?\(/gi;

/** Returns what a statement does with which table: `insert members`, `select orgs`; without a table its first word: `commit`. */
export function nameStatement(text: string): string {
  const [verb = "other"] = /\w+/.exec(text) ?? [];
  if (!onTables.test(text)) return verb.toLowerCase();
  // What follows `with` counts more than what is in it.
  const outer = withoutBrackets(text);
  const [, changing, changed] = change.exec(outer) ?? change.exec(text) ?? [];
  if (changing !== undefined) return `${changing.split(/\s/)[0]?.toLowerCase()} ${changed}`;
  const own = new Set(Array.from(text.matchAll(namedSelects), ([, name]) => name));
  const table = Array.from(`${outer} ${text}`.matchAll(sources), ([, name]) => name).find((name) => !own.has(name));
  return table === undefined ? "select" : `select ${table}`;
}

function withoutBrackets(text: string): string {
  for (let left = text; ;) {
    const less = left.replaceAll(/\([^()]*\)/g, "[]");
    if (less === left) return left;
    left = less;
  }
}
