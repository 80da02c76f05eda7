import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { violatedConstraint } from "../../database/failure.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone, mapItems } from "../batch/batch-item.ts";
import { type ResourceRow, type ResourceTable, isNamed } from "../definition/definition.ts";
import type { NamedFields } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { readByKeys } from "../read/row-reader.ts";
import { insertRows } from "../rows/insert-rows.ts";
import type { Draft, Outcome, ServedResource } from "../rules.ts";
import { invalidExpiry } from "./expire-time.ts";
import { mapErrors } from "./map-errors.ts";
import { locksOf } from "./open-write.ts";
import type { WriteCall } from "./write-call.ts";
import { type Applied, type Plan, type RowChange, writeRows } from "./write-rows.ts";

/** Resources to be created. */
export interface NewResources<Desc extends DescMessage, Checked = unknown> {
  /** The parent of each. */
  readonly parents: readonly (readonly Reference[])[];
  readonly messages: readonly MessageShape<Desc>[];
  /** What `checkNew` found of them. */
  readonly checked: readonly Outcome<Checked>[];
}

/** Creates resources in order, each in its parent, and returns their rows. */
export async function createAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  resources: NewResources<Desc>,
  atItem: AtItem = alone,
): Promise<Row[]> {
  const { creation, scope } = served.rules;
  const { parents, messages, checked } = resources;
  const { author } = call.request;
  if (creation.kind === "alone") {
    return creation.insert(call.db, messages, author, (index, insert) =>
      atItem(index, () => insert().catch(mapErrors(served, author, required(messages[index])))),
    );
  }
  const createTogether = async (some: NewResources<Desc>, each: AtItem): Promise<Row[]> => {
    const locks = await locksOf(scope, call.db, required(some.parents[0]), some.messages[0]);
    const prepare = (transaction: OrgTransaction) =>
      planCreation(served, transaction, some, each, (rows: readonly Row[]) => [...rows]);
    return writeRows(served, call, { locks, prepare, atItem: each });
  };
  if (scope.kind !== "each") return createTogether(resources, atItem);
  const rows: Row[] = [];
  for (const index of messages.keys()) {
    const [from, to] = [index, index + 1];
    const one = {
      parents: parents.slice(from, to),
      messages: messages.slice(from, to),
      checked: checked.slice(from, to),
    };
    rows.push(...(await atItem(index, () => createTogether(one, alone))));
  }
  return rows;
}

/**
 * Returns the plan to create resources, which their rules have prepared.
 *
 * @param answer makes what goes with the rows, and gets what the rules prepared of each.
 */
export async function planCreation<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row>,
  Checked,
  Result,
>(
  served: ServedResource<Table, Row, Desc, NewRow, Checked>,
  transaction: OrgTransaction,
  { parents, messages, checked }: NewResources<Desc, Checked>,
  atItem: AtItem,
  answer: (rows: readonly Row[], drafts: readonly NewRow[]) => Result | Promise<Result>,
): Promise<Plan<Row, Result>> {
  const { definition, rules } = served;
  if (rules.creation.kind !== "in org") throw new Error(`a ${definition.label.one} is not created in an org`);
  const drafts = await rules.creation.prepare(transaction, parents, messages, atItem, checked);
  return {
    rows: drafts.map(({ columns }) => columns),
    parents: new Map(drafts.flatMap(({ parent }) => (parent === undefined ? [] : [[parent.id, parent] as const]))),
    apply: () => insertDrafts(served, transaction, drafts, messages, atItem),
    answer: (rows) => answer(rows.map(required), drafts),
  };
}

/**
 * Inserts rows. Several are first inserted in one statement. If a constraint is violated, they are inserted individually, to find the one
 * that is at fault.
 */
async function insertDrafts<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  drafts: readonly Draft<Table, Row>[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem,
): Promise<Applied<Row>> {
  const insertAll = () => insertTogether(served, transaction, drafts, messages, atItem);
  if (drafts.length === 1) return insertAll().catch(mapErrors(served, transaction.author, required(messages[0])));
  const together = await orUndone(transaction.db, insertAll);
  if (together !== undefined) return together;
  const each = await mapItems(drafts, atItem, (draft, index) => {
    const message = required(messages[index]);
    const inserting = insertTogether(served, transaction, [draft], [message], alone);
    return inserting.catch(mapErrors(served, transaction.author, message));
  });
  return {
    changes: each.flatMap(({ changes }) => changes),
    counts: new Map(each.flatMap(({ counts = [] }) => [...counts])),
  };
}

async function insertTogether<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition }: ServedResource<Table, Row, Desc>,
  { db, org, revision, time, newId }: OrgTransaction,
  drafts: readonly Draft<Table, Row>[],
  messages: readonly MessageShape<Desc>[],
  atItem: AtItem,
): Promise<Applied<Row>> {
  const named = isNamed(definition);
  const values = drafts.map(({ columns }, index) => ({
    columns,
    ...(named && { fields: messages[index] as MessageShape<Desc> & NamedFields }),
  }));
  const { rows, counts } = await insertRows({ db, org, revision, time, newId }, definition, values);
  const isWhole = drafts.every(({ joined }) => joined !== undefined);
  const whole = isWhole
    ? rows.map((row, index) => ({ ...row, ...drafts[index]?.joined }) as unknown as Row)
    : await readByKeys(db, definition, rows);
  // A row may have expired during the insert, by the database's clock.
  const changes = await mapItems(whole, atItem, (after): RowChange<Row> => {
    if (after === undefined) throw invalidExpiry(definition.storage.expireField ?? "");
    return { before: null, after };
  });
  return { changes, counts };
}

/** Runs statements in a savepoint. If a constraint is violated, rolls back to the savepoint and returns undefined. */
async function orUndone<Result>(db: WriteTransaction, run: () => Promise<Result>): Promise<Result | undefined> {
  db.sendWithNext(sql`savepoint undone`.compile(db));
  try {
    const result = await run();
    // The transaction has locked the org's row and will update it. Inside of a savepoint, the update would have a transaction id of its
    // own. PostgreSQL would then store lock and update as a multixact, which every reader of the row has to look up.
    db.sendWithNext(sql`release savepoint undone`.compile(db));
    return result;
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    await sql`rollback to savepoint undone`.execute(db);
    return undefined;
  }
}
