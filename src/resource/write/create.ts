import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Transaction, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import type { Schema } from "../../database/schema.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/resource-path.ts";
import { type AtItem, alone, mapItems } from "../batch/batch-item.ts";
import {
  type ResourceDefinition,
  type TypedDefinition,
  type ResourceRow,
  type ResourceTable,
  isNamed,
} from "../definition.ts";
import { expiryInPast } from "../expire-time.ts";
import { type Limits, limitExceeded } from "../limits.ts";
import type { NamedFields } from "../named-fields.ts";
import { required } from "../required.ts";
import { readByKeys } from "../row-reader.ts";
import { insertRows } from "../rows/insert-rows.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteCall } from "../write-call.ts";
import { explained } from "./explain.ts";
import { recordChange } from "./record.ts";
import { closeScope, openScope } from "./scope.ts";

/** Creates resources in order, in a parent. */
export async function createAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parent: readonly Reference[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem = alone,
): Promise<Row[]> {
  const { creation, scope } = served.rules;
  if (creation.kind === "alone") {
    return creation.insert(call.db, messages, call.request.author, (index, insert) =>
      atItem(index, () => explained(served, required(messages[index]), insert)),
    );
  }
  if (scope.kind === "each") {
    const rows: Row[] = [];
    for (const [index, message] of messages.entries()) {
      rows.push(...(await atItem(index, () => createIn(served, call, parent, [message], alone))));
    }
    return rows;
  }
  return createIn(served, call, parent, messages, atItem);
}

async function createIn<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parent: readonly Reference[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem,
): Promise<Row[]> {
  const transaction = await openScope(served, call, parent, messages[0]);
  const rows = await insertAll(served, transaction, parent, messages, atItem);
  await closeScope(call, transaction);
  return rows;
}

/**
 * Creates resources under the lock of their org: checks and inserts them, holds them to the limit, and writes them down. Many
 * are first tried at once; when the database refuses that, doing it again one by one tells which of them it is.
 *
 * @throws ServiceError LIMIT_EXCEEDED at the first row that finds no room.
 */
export async function insertAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  parent: readonly Reference[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem,
): Promise<Row[]> {
  const insert = (some: readonly MessageShape<Desc>[], at: AtItem) =>
    insertChecked(served, transaction, parent, some, at);
  let inserted = messages.length > 1 ? await orUndone(transaction.db, () => insert(messages, atItem)) : undefined;
  inserted ??= merge(
    await mapItems(messages, atItem, (message) => explained(served, message, () => insert([message], alone))),
  );
  await requireRoom(served, inserted, atItem);
  for (const row of inserted.rows) recordChange(transaction, served.definition, null, row);
  return inserted.rows;
}

/** Rows, and how many there are now in each parent that got one. */
interface Inserted<Row> {
  readonly rows: Row[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Checks what is to be created, and inserts it. */
async function insertChecked<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, rules: { creation } }: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  parent: readonly Reference[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem,
): Promise<Inserted<Row>> {
  if (creation.kind !== "in org") throw new Error(`a ${definition.label.one} is not created in an org`);
  const { db, org, revision } = transaction;
  const drafts = await creation.prepare(transaction, parent, messages, atItem);
  const named = isNamed(definition);
  const values = drafts.map(({ columns }, index) => ({
    columns,
    ...(named && { fields: messages[index] as MessageShape<Desc> & NamedFields }),
  }));
  const { rows, counts } = await insertRows({ db, orgId: org.id, revision }, definition, values);
  const isWhole = drafts.every(({ joined }) => joined !== undefined);
  const whole = isWhole
    ? rows.map((row, index) => ({ ...row, ...drafts[index]?.joined }) as unknown as Row)
    : await readByKeys(db, definition, rows);
  // What ends by itself may have, by the database's clock, while it was inserted.
  const found = await mapItems(whole, atItem, (row) => {
    if (row === undefined) throw expiryInPast(definition.storage.expireField ?? "");
    return row;
  });
  return { rows: found, counts };
}

/** Makes sure that a parent does not hold too many. Exact: the org's lock is held. */
export async function requireRoom<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, dependencies: { limits } }: ServedResource<Table, Row, Desc>,
  { rows, counts }: Inserted<Row>,
  atItem: AtItem,
): Promise<void> {
  const excess = excessOf(definition, limits, counts);
  const [row] = rows;
  if (excess <= 0 || row === undefined) return;
  const error = limitExceeded(definition, countedPathOf(definition, row), required(limits[definition.type]));
  await atItem(Math.max(rows.length - excess, 0), () => Promise.reject(error));
}

/** By how many a limit is passed in the parent that holds most. */
function excessOf({ type }: ResourceDefinition, limits: Limits, counts: ReadonlyMap<string, number>): number {
  return Math.max(0, ...counts.values()) - (limits[type] ?? Infinity);
}

/** The path of the parent below which a row is counted. */
function countedPathOf<Table extends ResourceTable, Row extends ResourceRow>(
  { storage, pathOf }: TypedDefinition<Table, Row>,
  row: Row,
): string {
  return storage.countedBy === "org_id"
    ? formatPath(patterns.Org, orgPathName(row as Row & Parameters<typeof orgPathName>[0]))
    : pathOf(row).split("/").slice(0, -2).join("/");
}

/** Runs statements; when the database refuses one, as if none had run, and answers undefined. */
async function orUndone<Result>(db: Transaction<Schema>, run: () => Promise<Result>): Promise<Result | undefined> {
  await sql`savepoint undone`.execute(db);
  try {
    return await run();
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    await sql`rollback to savepoint undone`.execute(db);
    return undefined;
  }
}

function merge<Row>(inserted: readonly Inserted<Row>[]): Inserted<Row> {
  return {
    rows: inserted.flatMap(({ rows }) => rows),
    counts: new Map(inserted.flatMap(({ counts }) => [...counts])),
  };
}
