// What all writes of a resource share: they run once, in a transaction that holds the lock of their org, and leave a line
// in its change log.
import { type DescMessage, type Message, type MessageShape, create } from "@bufbuild/protobuf";
import { type Transaction, sql } from "kysely";
import { type OrgTransaction, writeInOrg } from "../changes/write-in-org.ts";
import { violatedConstraint } from "../database/failure.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/resource-path.ts";
import {
  type LifecycleRow,
  type Transition,
  checkTransition,
  makeTransition,
  makeTransitions,
  stateForbids,
} from "./lifecycle.ts";
import type { AtItem } from "./batch-item.ts";
import { countResources, limitExceeded } from "./limits.ts";
import { isRenamed, scopeAround } from "./renaming.ts";
import { createPreviewedWrites } from "./previewed-writes.ts";
import { required } from "./required.ts";
import { type Resource, type ResourceDependencies, type ResourceRow, patternOf } from "./resource.ts";
import { type WriteRequest, runWrite } from "./write-request.ts";

export interface ResourceWriter<Desc extends DescMessage, Row extends ResourceRow> {
  /**
   * Runs a write as a request has it: once, or only to check it.
   *
   * @param stored makes of an answer what is kept of it; by default, of a resource.
   */
  run(
    request: WriteRequest,
    write: (db: Transaction<Schema>) => Promise<Message>,
    stored?: (answer: Message) => Message,
  ): Promise<Message>;
  /** Locks the org that a path is in, for a write of the resource there; `message` is given when it is created. */
  inScope<Result>(
    db: Transaction<Schema>,
    path: readonly Reference[],
    request: WriteRequest,
    write: (transaction: OrgTransaction) => Promise<Result>,
    message?: MessageShape<Desc>,
  ): Promise<Result>;
  /** What a write answers: the resource, or nothing when nothing is left of it or was there. */
  answer(request: WriteRequest, row: Row | null): Message;
  /** Checks that a row is there and, if the caller says so, unchanged. */
  requireFound(row: Row | undefined, path: readonly Reference[], etag: string): Row;
  /** Creates resources in order, in their org or alone. */
  createAll(
    db: Transaction<Schema>,
    parent: readonly Reference[],
    messages: readonly MessageShape<Desc>[],
    request: WriteRequest,
    atItem?: AtItem,
  ): Promise<Row[]>;
  insert(transaction: OrgTransaction, parent: readonly Reference[], message: MessageShape<Desc>): Promise<Row>;
  update(transaction: OrgTransaction, row: Row, message: MessageShape<Desc>): Promise<Row>;
  /** Deletes a row; answers it as it stays readable, or null. */
  remove(transaction: OrgTransaction, row: Row): Promise<Row | null>;
  /** The same for many of one scope. */
  removeAll(transaction: OrgTransaction, rows: readonly Row[], atItem: AtItem): Promise<(Row | null)[]>;
  /** @throws ServiceError STATE_FORBIDS when the row's state does not allow it. */
  change(transaction: OrgTransaction, row: Row, transition: Transition): Promise<Row>;
}

export function createResourceWriter<Desc extends DescMessage, Row extends ResourceRow>(
  { database, limits, retentionDays, grants, previewAccess }: ResourceDependencies,
  resource: Resource<Desc, Row>,
): ResourceWriter<Desc, Row> {
  const { type, label, pathOf } = resource;
  const pattern = patternOf(resource);
  const previewed = createPreviewedWrites(previewAccess);

  const record = (transaction: OrgTransaction, before: Row | null, after: Row | null): void => {
    const row = required(after ?? before);
    transaction.record({
      type,
      id: resource.idOf(row),
      path: pathOf(before ?? row),
      before: before === null ? null : resource.logged(before),
      after: after === null ? null : resource.logged(after),
    });
  };

  /** Tells what the database objects to in the words of the resource. */
  const explained = async <Result>(row: Promise<Result>, message: MessageShape<Desc>): Promise<Result> => {
    try {
      return await row;
    } catch (error) {
      throw resource.explain?.(error, message) ?? error;
    }
  };

  /**
   * Makes sure, once rows were added to a parent, that it does not hold too many. Exact: the org's lock is held.
   *
   * @throws ServiceError LIMIT_EXCEEDED at the first row that found no room.
   */
  const requireRoom = async (transaction: OrgTransaction, rows: readonly Row[], atItem: AtItem): Promise<void> => {
    const [row] = rows;
    const limit = limits[type];
    if (row === undefined || limit === undefined || resource.parentIdOf === undefined) return;
    const counted = { type, orgId: transaction.org.id, parentId: resource.parentIdOf(row) };
    const excess = (await countResources(transaction.db, counted)) - limit;
    if (excess <= 0) return;
    const parentPath = resource.parentPathOf?.(row) ?? pathOf(row).split("/").slice(0, -2).join("/");
    const error = limitExceeded(label, parentPath, limit);
    await atItem(Math.max(rows.length - excess, 0), () => Promise.reject(error));
  };

  const insertOne = async (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    message: MessageShape<Desc>,
  ): Promise<Row> => {
    const { insert: insertRow, insertMany } = resource;
    if (insertMany !== undefined) return required((await insertMany(transaction, parent, [message], alone))[0]);
    if (insertRow === undefined) throw new Error(`a ${label} is not created in an org`);
    return insertRow(transaction, parent, message);
  };

  /**
   * Inserts one after the other. Many are first tried in one statement; when the database refuses that, doing it again one
   * by one tells which of them it is.
   */
  const insertRows = async (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    messages: readonly MessageShape<Desc>[],
    atItem: AtItem,
  ): Promise<Row[]> => {
    const { insertMany } = resource;
    if (messages.length > 1 && insertMany !== undefined) {
      const { db } = transaction;
      const rows = await orUndone(db, () => insertMany(transaction, parent, messages, atItem));
      if (rows !== undefined) return rows;
    }
    const rows: Row[] = [];
    for (const [index, message] of messages.entries()) {
      rows.push(await atItem(index, () => explained(insertOne(transaction, parent, message), message)));
    }
    return rows;
  };

  const insertAll = async (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    messages: readonly MessageShape<Desc>[],
    atItem: AtItem,
  ): Promise<Row[]> => {
    const rows = await insertRows(transaction, parent, messages, atItem);
    await requireRoom(transaction, rows, atItem);
    for (const row of rows) record(transaction, null, row);
    return rows;
  };

  const inScope: ResourceWriter<Desc, Row>["inScope"] = async (db, path, { author }, write, message) => {
    const scope = (await resource.findScope?.(db, path, message)) ?? resource.scope ?? required(path[0]);
    // An org's own state stands in the way of what is in it, not of what becomes of itself.
    return writeInOrg(
      db,
      scope,
      author,
      (transaction) => write(previewed.watch(transaction)),
      type === "Org" ? "any" : "active",
    );
  };

  /** Each in an org of its own. */
  const createOneByOne = async (
    db: Transaction<Schema>,
    parent: readonly Reference[],
    messages: readonly MessageShape<Desc>[],
    request: WriteRequest,
    atItem: AtItem,
  ): Promise<Row[]> => {
    const rows: Row[] = [];
    for (const [index, message] of messages.entries()) {
      const insert = (transaction: OrgTransaction) => insertAll(transaction, parent, [message], alone);
      rows.push(...(await atItem(index, () => inScope(db, parent, request, insert, message))));
    }
    return rows;
  };

  /** Makes sure that a row can make a transition, and does what goes with it. */
  const prepareChange = async (transaction: OrgTransaction, row: Row, transition: Transition): Promise<void> => {
    checkTransition(row as Row & LifecycleRow, transition, label, pathOf(row));
    await resource.lifecycle?.accompany?.(transaction, row, transition);
  };

  const change = async (transaction: OrgTransaction, row: Row, transition: Transition): Promise<Row> => {
    const { lifecycle } = resource;
    if (lifecycle === undefined) throw new Error(`a ${label} has no states`);
    const before = row as Row & LifecycleRow;
    const path = pathOf(row);
    await prepareChange(transaction, row, transition);
    const make = () => makeTransition(transaction, lifecycle.table, before, transition, retentionDays);
    const made = lifecycle.surround?.(transaction, transition, make) ?? make();
    const after = await explained(made, resource.toMessage(row));
    if (after === undefined) {
      throw stateForbids(`the ${label} ${path} is DELETED, and its purge_time has passed`, path, "DELETED");
    }
    if (transition === "undelete") await requireRoom(transaction, [after], alone);
    record(transaction, row, after);
    return after;
  };

  const deleteMany = async (transaction: OrgTransaction, rows: readonly Row[], atItem: AtItem): Promise<Row[]> => {
    const { lifecycle } = resource;
    if (lifecycle === undefined) throw new Error(`a ${label} has no states`);
    for (const [index, row] of rows.entries()) {
      await atItem(index, () => prepareChange(transaction, row, "delete"));
    }
    const before = rows as readonly (Row & LifecycleRow)[];
    const make = () => makeTransitions(transaction, lifecycle.table, before, "delete", retentionDays);
    return lifecycle.surround?.(transaction, "delete", make) ?? make();
  };

  const removeAll = async (
    transaction: OrgTransaction,
    rows: readonly Row[],
    atItem: AtItem,
  ): Promise<(Row | null)[]> => {
    if (rows.length === 0) return [];
    const { remove: removeRow, removeMany } = resource;
    let left: (Row | null)[] = rows.map(() => null);
    if (removeMany !== undefined) await removeMany(transaction, rows);
    else if (removeRow === undefined) left = await deleteMany(transaction, rows, atItem);
    else for (const [index, row] of rows.entries()) await atItem(index, () => removeRow(transaction, row));
    for (const [index, row] of rows.entries()) record(transaction, row, left[index] ?? null);
    return left;
  };

  return {
    change,

    inScope,

    run: (request, write, stored = resource.withoutSecrets as ((answer: Message) => Message) | undefined) =>
      previewed.run(request, write, (run) => runWrite(database, request, run, stored)),

    answer: ({ answer }, row) => (row === null ? create(answer) : resource.toMessage(row)),

    requireFound(row, path, etag) {
      if (row === undefined) throw notFound(label, formatReferences(pattern, path));
      if (etag !== "" && etag !== row.changed_revision) throw stale(label, pathOf(row));
      return row;
    },

    createAll(db, parent, messages, request, atItem = alone) {
      if (resource.insertAlone !== undefined) {
        return resource.insertAlone(db, messages, request.author, (index, run) =>
          atItem(index, () => explained(run(), required(messages[index]))),
        );
      }
      if (resource.findScope !== undefined) return createOneByOne(db, parent, messages, request, atItem);
      return inScope(db, parent, request, (transaction) => insertAll(transaction, parent, messages, atItem));
    },

    async insert(transaction, parent, message) {
      const [row] = await insertAll(transaction, parent, [message], alone);
      return required(row);
    },

    async update(transaction, row, message) {
      if (resource.update === undefined) throw new Error(`a ${label} cannot be updated`);
      if (isRenamed(row, message)) {
        const renamed = { type, id: resource.idOf(row), scope: scopeAround(type, transaction.org.id, row) };
        await grants.requireMayRename(transaction, renamed);
      }
      const after = await explained(resource.update(transaction, row, message), message);
      record(transaction, row, after);
      return after;
    },

    async remove(transaction, row) {
      const [left] = await removeAll(transaction, [row], alone);
      return left ?? null;
    },

    removeAll,
  };
}

/** For one that is no item of a batch. */
const alone: AtItem = (_index, run) => run();

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

function stale(label: string, path: string): ServiceError {
  return new ServiceError("ETAG_STALE", `the ${label} ${path} has changed since this etag was read; read it again`, {
    metadata: { resource: path },
  });
}
