// Records what a call makes a server in this process send to the database: which statements, in which order, and which of them together.
import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage, Server } from "node:http";
import pg from "pg";
import type { SqlClient } from "./sql.ts";

/** A statement that a call has sent. */
interface Sent {
  /** The number of its connection, among those that the call uses. */
  readonly connection: number;
  /** Whether the server had answered all statements of the connection before. If not, it was sent together with the one before. */
  readonly isAlone: boolean;
  readonly text: string;
  readonly name: string | undefined;
}

interface Trace {
  readonly sent: Sent[];
  readonly connections: pg.Client[];
}

interface Submitted {
  readonly text: string;
  readonly name?: string;
  callback?: (...outcome: unknown[]) => void;
}

const traces = new AsyncLocalStorage<Trace>();
/** By the value of the header of a call. */
const traced = new Map<string, Trace>();
const header = "x-request-id";
/** The number of statements that wait for their answers. */
const unanswered = new WeakMap<pg.Client, number>();
let isWatching = false;

/** A trace that has begun. */
interface BegunTrace {
  /** The headers of the calls to trace. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Ends the trace, and returns a line for each statement. The number is that of the round trip: statements without a number are sent
   * together with the one above. If there are several transactions, each has a letter.
   */
  readonly end: () => string[];
}

/** Begins a trace of calls that share a request id. */
export function traceCalls(requestId: string): BegunTrace {
  watch();
  const trace: Trace = { sent: [], connections: [] };
  traced.set(requestId, trace);
  return {
    headers: { [header]: requestId },
    end() {
      traced.delete(requestId);
      return format(trace.sent.slice());
    },
  };
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  const { emit } = Server.prototype;
  Server.prototype.emit = function traceRequest(this: Server, ...event: Parameters<typeof emit>) {
    const [name, request] = event as readonly unknown[] as readonly [string, IncomingMessage];
    const trace = name === "request" ? traced.get(String(request.headers[header])) : undefined;
    const run = (): boolean => Reflect.apply(emit, this, event);
    return trace === undefined ? run() : traces.run(trace, run);
  } as typeof emit;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function traceQuery(this: pg.Client, ...parameters: readonly unknown[]): unknown {
    const [statement] = parameters as readonly Submitted[];
    if (typeof statement === "object" && statement.callback !== undefined) note(this, statement);
    return Reflect.apply(query, this, parameters);
  } as typeof query;
}

function note(client: pg.Client, statement: Submitted): void {
  const before = unanswered.get(client) ?? 0;
  unanswered.set(client, before + 1);
  const { callback } = statement;
  statement.callback = (...outcome) => {
    unanswered.set(client, (unanswered.get(client) ?? 1) - 1);
    callback?.(...outcome);
  };
  const trace = traces.getStore();
  if (trace === undefined) return;
  if (!trace.connections.includes(client)) trace.connections.push(client);
  const { text, name } = statement;
  trace.sent.push({ connection: trace.connections.indexOf(client), isAlone: before === 0, text, name });
}

function format(sent: readonly Sent[]): string[] {
  const transactions = [
    ...new Set(sent.filter(({ text }) => text.startsWith("begin")).map(({ connection }) => connection)),
  ];
  let trips = 0;
  return sent.map(({ connection, isAlone, text, name }) => {
    const number = isAlone ? String(++trips) : "";
    const index = transactions.indexOf(connection);
    const letter = transactions.length > 1 ? `${index === -1 ? " " : String.fromCodePoint(65 + index)} ` : "";
    const lookup = name !== undefined && !/^statement_\d+$/.test(name) ? `${name}: ` : "";
    return `${number.padStart(2)}  ${letter}${lookup}${describeStatement(text)}`;
  });
}

const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.]+|\S/g;

/** Returns what a statement writes, locks and reads: "insert members; read resource_counts", "lock orgs", "commit". */
function describeStatement(text: string): string {
  if (!/^\s*(?:with|select|insert|update|delete)\b/.test(text)) return text.replaceAll(/\/\*.*\*\/|\s+/g, " ").trim();
  const words = (text.match(token) ?? []).map((word) => word.replaceAll('"', "").toLowerCase());
  const expressions = new Set(words.filter((_, index) => isExpression(words, index)));
  const [writes, reads] = [new Set<string>(), new Set<string>()];
  for (const [index, word] of words.entries()) {
    const [before = "", next = "", afterNext = ""] = [words[index - 1], words[index + 1], words[index + 2]];
    if (word === "insert" && next === "into") writes.add(`insert ${afterNext}`);
    else if (word === "delete" && next === "from") writes.add(`delete ${afterNext}`);
    else if (word === "update" && !["for", "key", "do"].includes(before)) writes.add(`update ${next}`);
    else if (/^(?:set_config|pg_\w*advisory\w*)$/.test(word)) writes.add(word);
    else if (isRead(word, before, next) && afterNext !== "(") reads.add(next);
  }
  const tables = [...reads].filter((name) => !expressions.has(name));
  const verb = /\bfor (?:no key update|update|share|key share)\b/.test(text) ? "lock" : "read";
  const read = tables.length === 0 ? [] : [`${verb} ${tables.join(", ")}`];
  return [...writes, ...read].join("; ") || text.replaceAll(/\s+/g, " ").trim().slice(0, 60);
}

/** Whether the next word names what is read: neither "distinct from", "delete from", "epoch from" nor "join lateral". */
function isRead(word: string, before: string, next: string): boolean {
  if (!["from", "join", "using"].includes(word) || ["distinct", "delete", "epoch"].includes(before)) return false;
  return /^[a-z]/.test(next) && next !== "lateral";
}

/** Whether a word names a common table expression. */
function isExpression(words: readonly string[], index: number): boolean {
  const rest = words.slice(index + 1);
  const end = rest[0] === "(" ? rest.indexOf(")") + 1 : 0;
  const [as, ...after] = rest.slice(end);
  return as === "as" && (after[0] === "(" || after[0] === "materialized");
}

/** Returns a line for each entry that an org's change log has after a number of entries. */
export async function describeEntries(client: SqlClient, org: string, after: number): Promise<string[]> {
  const rows = await client.query(
    `select resource_type as type, resource_path as path, before, after from changes
      where org_id = (select id from orgs where name = $1) order by revision, position offset $2`,
    [org, after],
  );
  return rows.map(
    ({ type, path, before, after: left }) => `${String(type)} ${String(path)}: ${describeChange(before, left)}`,
  );
}

/** Returns the number of entries in an org's change log. */
export async function countEntries(client: SqlClient, org: string): Promise<number> {
  const count = "select count(*)::int as count from changes where org_id = (select id from orgs where name = $1)";
  return Number((await client.query(count, [org]))[0]?.["count"]);
}

type Columns = Readonly<Record<string, unknown>> | null;

function describeChange(before: unknown, after: unknown): string {
  const [old, now] = [before as Columns, after as Columns];
  if (old === null) return "created";
  if (now === null) return "removed";
  const isStamp = (column: string): boolean => ["changed_revision", "update_time"].includes(column);
  const differs = (column: string): boolean => JSON.stringify(old[column]) !== JSON.stringify(now[column]);
  return `changed ${Object.keys(now)
    .filter((column) => differs(column) && !isStamp(column))
    .toSorted()
    .join(", ")}`;
}
