// Statements are the same if the same function of src/ builds them and they do the same with the same tables. Their texts say too much:
// those of lists and batches differ with filters and numbers of items. So do lines: in a stack, an async function is at its call or at
// its await, which may be in another one.

/** A statement that was sent. */
export interface SentStatement {
  /** The functions of this project that lead to it, as in `src/changes/lock-org.ts lockOrgThatStays`, the nearest one first. */
  readonly frames: readonly string[];
  /** The name that it is prepared with, if any. */
  readonly name: string | undefined;
  readonly text: string;
}

/** They send what others build. */
const machinery = [
  "batch",
  "connection-pool",
  "connection-watch",
  "database",
  "path-lookup",
  "pool-dialect",
  "statement-template",
].map((name) => `src/database/${name}.ts`);

/** Names that a pool gives in the order in which statements return (src/database/prepared-statements.ts). */
const numberedName = /^statement_\d+$/;
/** What the names begin with of statements that tests prepare. */
export const nameOfTest = "test_";
/** What path-lookup.ts appends to the name of a lookup: the shape of the path, and the number of a condition. */
const shapeOfPath = /(?:_(?:name|id|any))+(?:_\d+)?$/;

/**
 * Returns what identifies a statement, as in "src/changes/lock-org.ts lockOrgThatStays: select orgs"; undefined for one that src/ does not send. A
 * lookup that was batched has left its callers behind: "lookup members_ids". The rest has its text.
 */
export function identityOf({ frames: all, name, text }: SentStatement): string | undefined {
  // Tests replace the client's method, for one test or until the process ends: what they do so is not theirs.
  const sender = all.findIndex((frame) => !frame.startsWith("test/support/"));
  const frames = sender === -1 ? [] : all.slice(sender);
  const place = frames.find((frame) => !machinery.some((start) => frame.startsWith(start)));
  if (place !== undefined) return place.startsWith("src/") ? `${place}: ${describeText(text)}` : undefined;
  if (name?.startsWith(nameOfTest) === true) return undefined;
  // One that had to wait for a connection may have left all frames behind. Only src/ gives other names.
  if (name !== undefined && !numberedName.test(name)) return `lookup ${name.replace(shapeOfPath, "")}`;
  return frames.length === 0 ? undefined : `text ${normaliseText(text)}`;
}

/** Returns the text without values and without the numbers of parameters, items and rows. */
export function normaliseText(text: string): string {
  return text
    .replaceAll(/'(?:[^']|'')*'/g, "?")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\$?\d+/g, "?")
    .replaceAll(/\?(?:, ?\?)+/g, "?")
    .replaceAll(/\(\?\)(?:, ?\(\?\))+/g, "(?)")
    .trim();
}

const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S/g;

/**
 * Returns what a statement writes, or the tables that its outermost select reads, or what it is: "insert orgs", "select orgs, members",
 * "commit". Filters add selects within.
 */
export function describeText(text: string): string {
  const tokens = (text.match(token) ?? []).map((each) => (each.startsWith("'") ? each : each.toLowerCase()));
  const writes = new Set<string>();
  const reads: { readonly table: string; readonly depth: number }[] = [];
  let depth = 0;
  for (const [index, word] of tokens.entries()) {
    const [before = "", next = "", afterNext = ""] = [tokens[index - 1], tokens[index + 1], tokens[index + 2]];
    if (word === "(") depth++;
    else if (word === ")") depth--;
    else if ((word === "insert" && next === "into") || (word === "delete" && next === "from")) {
      writes.add(`${word} ${bare(afterNext)}`);
      // Neither "for update" nor "on conflict do update set".
    } else if (word === "update" && isName(next) && !["for", "key", "do"].includes(before)) {
      writes.add(`update ${bare(next)}`);
      // Neither "is distinct from" nor "delete from".
    } else if (["from", "join"].includes(word) && isName(next) && !["distinct", "delete"].includes(before)) {
      reads.push({ table: bare(next), depth });
    }
  }
  if (writes.size > 0) return [...writes].join(", ");
  const outermost = Math.min(...reads.map((read) => read.depth));
  const tables = new Set(reads.filter((read) => read.depth === outermost).map(({ table }) => table));
  return tables.size === 0 ? (tokens.find(isName) ?? "") : `select ${[...tables].join(", ")}`;
}

const isName = (word: string): boolean => /^["a-z_]/.test(word) && word !== "lateral";
const bare = (name: string): string => name.replaceAll('"', "");
