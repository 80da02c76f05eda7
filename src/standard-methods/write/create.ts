import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone, mapItems } from "../batch/batch-item.ts";
import { type TypedDefinition, type ResourceRow, type ResourceTable, isNamed } from "../definition/definition.ts";
import { invalidExpiry } from "./expire-time.ts";
import { limitExceeded } from "../definition/limits.ts";
import type { NamedFields } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { readByKeys } from "../read/row-reader.ts";
import { countByParent, insertRows } from "../rows/insert-rows.ts";
import type { Draft, Outcome, ServedResource } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";
import { withMappedErrors } from "./map-errors.ts";
import { requireOpenParents } from "./require-open-parents.ts";
import { recordChange } from "./append-change.ts";
import { closeScope, openScope } from "./scope.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

/**
 * Creates resources in order, each in its parent.
 *
 * @param checked what `checkNew` found of them.
 */
export async function createAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parents: readonly (readonly Reference[])[],
  messages: readonly MessageShape<Desc>[],
  checked: readonly Outcome<unknown>[],
  atItem: AtItem = alone,
): Promise<Row[]> {
  const { creation, scope } = served.rules;
  if (creation.kind === "alone") {
    return creation.insert(call.db, messages, call.request.author, (index, insert) =>
      atItem(index, () => withMappedErrors(served, call.request.author, required(messages[index]), insert)),
    );
  }
  if (scope.kind === "each") {
    const rows: Row[] = [];
    for (const [index, message] of messages.entries()) {
      const [parent, own] = [required(parents[index]), checked.slice(index, index + 1)];
      rows.push(...(await atItem(index, () => createIn(served, call, [parent], [message], own, alone))));
    }
    return rows;
  }
  return createIn(served, call, parents, messages, checked, atItem);
}

async function createIn<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parents: readonly (readonly Reference[])[],
  messages: readonly MessageShape<Desc>[],
  checked: readonly Outcome<unknown>[],
  atItem: AtItem,
): Promise<Row[]> {
  const transaction = await openScope(served, call, required(parents[0]), messages[0]);
  const created = await insertAll(served, transaction, parents, messages, checked, atItem);
  closeScope(call, transaction);
  return created.map(({ row }) => row);
}

/** A row that was inserted, and what it was inserted from. */
interface Created<Row, NewRow> {
  readonly row: Row;
  readonly draft: NewRow;
}

/**
 * Creates resources under the lock of their org: checks and inserts them, enforces the limit, and records the changes. Several
 * are first inserted in one statement. If a constraint is violated, they are inserted individually, to find the one that is at
 * fault.
 *
 * @param checked what `checkNew` found of them.
 * @throws ServiceError LIMIT_EXCEEDED at the first resource that exceeds the limit.
 */
export async function insertAll<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row>,
  Checked,
>(
  served: ServedResource<Table, Row, Desc, NewRow, Checked>,
  transaction: OrgTransaction,
  parents: readonly (readonly Reference[])[],
  messages: readonly MessageShape<Desc>[],
  checked: readonly Outcome<Checked>[],
  atItem: AtItem,
): Promise<Created<Row, NewRow>[]> {
  let inserted =
    messages.length > 1
      ? await orUndone(transaction.db, () => insertChecked(served, transaction, parents, messages, checked, atItem))
      : undefined;
  inserted ??= merge(
    await mapItems(messages, atItem, (message, index) =>
      withMappedErrors(served, transaction.author, message, () =>
        insertChecked(
          served,
          transaction,
          [required(parents[index])],
          [message],
          checked.slice(index, index + 1),
          alone,
        ),
      ),
    ),
  );
  await requireRoom(served, inserted, atItem);
  for (const row of inserted.rows) recordChange(transaction, served.definition, null, row);
  const { drafts } = inserted;
  return inserted.rows.map((row, index) => ({ row, draft: required(drafts[index]) }));
}

/** Inserted rows, with the new counts of the parents that got a row. */
interface Inserted<Row> {
  readonly rows: Row[];
  readonly counts: ReadonlyMap<string, number>;
}

/** With the draft of each row. */
interface InsertedDrafts<Row, NewRow> extends Inserted<Row> {
  readonly drafts: readonly NewRow[];
}

/** Checks messages and inserts their rows. */
async function insertChecked<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row>,
  Checked,
>(
  served: ServedResource<Table, Row, Desc, NewRow, Checked>,
  transaction: OrgTransaction,
  parents: readonly (readonly Reference[])[],
  messages: readonly MessageShape<Desc>[],
  checked: readonly Outcome<Checked>[],
  atItem: AtItem,
): Promise<InsertedDrafts<Row, NewRow>> {
  const { definition, rules } = served;
  const { creation } = rules;
  if (creation.kind !== "in org") throw new Error(`a ${definition.label.one} is not created in an org`);
  const { db, org, revision, time, newId } = transaction;
  const drafts = await creation.prepare(transaction, parents, messages, atItem, checked);
  const newRows = drafts.map(({ columns }) => columns);
  const read = new Map(drafts.flatMap(({ parent: row }) => (row === undefined ? [] : [[row.id, row] as const])));
  await requireOpenParents(served, transaction, newRows, atItem, read);
  const named = isNamed(definition);
  const values = drafts.map(({ columns }, index) => ({
    columns,
    ...(named && { fields: messages[index] as MessageShape<Desc> & NamedFields }),
  }));
  const { rows, counts } = await insertRows({ db, orgId: org.id, revision, time, newId }, definition, values);
  const isWhole = drafts.every(({ joined }) => joined !== undefined);
  const whole = isWhole
    ? rows.map((row, index) => ({ ...row, ...drafts[index]?.joined }) as unknown as Row)
    : await readByKeys(db, definition, rows);
  // A row may have expired during the insert, by the database's clock.
  const found = await mapItems(whole, atItem, (row) => {
    if (row === undefined) throw invalidExpiry(definition.storage.expireField ?? "");
    return row;
  });
  return { rows: found, counts, drafts };
}

/**
 * Checks that no parent exceeds the limit. The check is exact because the org's lock is held.
 *
 * @throws ServiceError LIMIT_EXCEEDED at the first row beyond the limit of its parent.
 */
export async function requireRoom<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, dependencies: { limits } }: ServedResource<Table, Row, Desc>,
  { rows, counts }: Inserted<Row>,
  atItem: AtItem,
): Promise<void> {
  const { type, storage } = definition;
  const limit = limits[type] ?? Infinity;
  if (Math.max(0, ...counts.values()) <= limit) return;
  const room = new Map<string, number>();
  for (const [parentId, added] of countByParent(definition, rows)) {
    room.set(parentId, limit - ((counts.get(parentId) ?? 0) - added));
  }
  for (const [index, row] of rows.entries()) {
    const parentId = (row as Record<string, unknown>)[storage.countedBy ?? ""] as string;
    const left = (room.get(parentId) ?? Infinity) - 1;
    room.set(parentId, left);
    if (left >= 0) continue;
    const error = limitExceeded(definition, countedPathOf(definition, row), limit);
    await atItem(index, () => Promise.reject(error));
  }
}

/** Returns the path of the parent in which a row is counted. */
function countedPathOf<Table extends ResourceTable, Row extends ResourceRow>(
  { storage, pathOf }: TypedDefinition<Table, Row>,
  row: Row,
): string {
  return storage.countedBy === "org_id"
    ? formatPath(patterns.Org, orgPathName(row as Row & Parameters<typeof orgPathName>[0]))
    : pathOf(row).split("/").slice(0, -2).join("/");
}

/** Runs statements in a savepoint. If a constraint is violated, rolls back to the savepoint and returns undefined. */
async function orUndone<Result>(db: WriteTransaction, run: () => Promise<Result>): Promise<Result | undefined> {
  void db.sendWithNext(sql`savepoint undone`.compile(db));
  try {
    const result = await run();
    // The transaction has locked the org's row and will update it. Inside of a savepoint, the update would have a transaction id of its
    // own. PostgreSQL would then store lock and update as a multixact, which every reader of the row has to look up.
    void db.sendWithNext(sql`release savepoint undone`.compile(db));
    return result;
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    await sql`rollback to savepoint undone`.execute(db);
    return undefined;
  }
}

function merge<Row, NewRow>(inserted: readonly InsertedDrafts<Row, NewRow>[]): InsertedDrafts<Row, NewRow> {
  return {
    drafts: inserted.flatMap(({ drafts }) => drafts),
    rows: inserted.flatMap(({ rows }) => rows),
    counts: new Map(inserted.flatMap(({ counts }) => [...counts])),
  };
}
