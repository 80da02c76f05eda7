// Reads what snapshots are made of, a chunk of rows at a time. PostgreSQL puts a chunk together as one text for each column:
// on both ends that takes a third of what as many rows do.
import { endianness } from "node:os";
import { type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { type PackedIds, formatUuidAt } from "../engine/uuid.ts";
import type { SnapshotRows, SnapshotSource } from "./snapshot-sources.ts";

export interface Chunk {
  readonly source: SnapshotSource;
  readonly count: number;
  /** The rows from this one to before that one. */
  readonly slice: (from: number, to: number) => SnapshotRows;
}

/** Where to go on: the key of the last row that was read. */
type Key = readonly string[];

/** The chunks of all sources; the next one is asked for before the last one is used, so that both ends work at once. */
export async function* readChunks(
  db: Transaction<Schema>,
  orgId: string,
  sources: readonly SnapshotSource[],
): AsyncIterable<Chunk> {
  const left = [...sources];
  const ask = (after?: Key) => {
    const [source] = left;
    const asked = source === undefined ? undefined : readChunk(db, orgId, source, after);
    // It may fail while nothing waits for it; what does later still gets the failure.
    asked?.catch(() => {});
    return asked;
  };
  let asked = ask();
  while (asked !== undefined) {
    const { last, ...chunk } = await asked;
    if (last === undefined) left.shift();
    asked = ask(last);
    yield chunk;
  }
}

/** Also answers the last key, when there may be more behind it. */
async function readChunk(
  db: Transaction<Schema>,
  orgId: string,
  source: SnapshotSource,
  after: Key | undefined,
): Promise<Chunk & { readonly last: Key | undefined }> {
  const { table, key, values, chunkSize } = source;
  const keyColumns = sql.join(key.map((id) => sql.ref(id)));
  const others = Object.entries(values).map(([name, value]) => sql`, ${value} as ${sql.ref(name)}`);
  const texts = key.map((id) => sql`encode(string_agg(uuid_send(${sql.ref(id)}), ''), 'base64') as ${sql.ref(id)}`);
  const lists = Object.keys(values).map((name) => sql`json_agg(${sql.ref(name)}) as ${sql.ref(name)}`);
  const further = after === undefined ? sql`` : sql`and (${keyColumns}) > (${sql.join(after)})`;
  // The aggregates see the rows in the order of the inner statement.
  const result = await sql<ChunkColumns>`
    select count(*)::int as count, ${sql.join([...texts, ...lists])}
    from (
      select ${keyColumns}${sql.join(others, sql``)} from ${sql.table(table)}
      where org_id = ${orgId} ${further} order by ${keyColumns} limit ${chunkSize}
    ) as chunk`.execute(db);
  const [columns] = result.rows;
  if (columns === undefined) throw new Error("an aggregate always has a row");
  const { count } = columns;
  const ids = new Map(key.map((id) => [id, unpackIds(columns[id] as string | null)]));
  const idsOf = (column: string): PackedIds => ids.get(column) as PackedIds;
  const valuesOf = (name: string): readonly unknown[] => columns[name] as readonly unknown[];
  const names = Object.keys(values);
  const rowAt = (at: number): object => {
    const row: Record<string, unknown> = {};
    for (const id of key) row[id] = formatUuidAt(idsOf(id), at);
    for (const name of names) row[name] = valuesOf(name)[at];
    return row;
  };
  return {
    source,
    count,
    last: count < chunkSize ? undefined : key.map((id) => formatUuidAt(idsOf(id), count - 1)),
    slice: (from, to) => ({
      ids: (column) => idsOf(column).subarray(from * 4, to * 4),
      values: (name) => valuesOf(name).slice(from, to),
      rows: <Row>() => Array.from({ length: Math.min(to, count) - from }, (_, index) => rowAt(from + index) as Row),
    }),
  };
}

function unpackIds(text: string | null): PackedIds {
  const bytes = Buffer.from(text ?? "", "base64");
  // The first byte of each word is its highest.
  if (endianness() === "LE") bytes.swap32();
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / Int32Array.BYTES_PER_ELEMENT);
}

/** Of the key the ids in base64 one after the other, of each value a list; null when there are no rows. */
interface ChunkColumns extends Readonly<Record<string, unknown>> {
  readonly count: number;
}
