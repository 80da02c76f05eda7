import { type InsertQueryBuilder, type InsertResult, type Selectable, sql } from "kysely";
import type { NewId } from "../../changes/id-source.ts";
import { type OrgKey, customerColumnOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { selectRows } from "../../database/select-rows.ts";
import {
  type OwnColumns,
  type ResourceDefinition,
  type TypedDefinition,
  type ResourceRow,
  type ResourceTable,
  isInOrg,
  isNamed,
  parentColumnOf,
} from "../definition/definition.ts";
import { type NamedFields, namedColumns } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { addToCounts, additionToCount } from "./counts.ts";
import { insertRow } from "./insert-row.ts";
import { keepLabels } from "./labels.ts";
import { idOf, keyOf, labelPlaceOf, parentIdOf } from "./row-key.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

/** Where rows are written: a transaction that holds the org's lock, and the next revision of its change log. */
export interface WriteTarget {
  readonly db: WriteTransaction;
  /** Undefined for an org that is being created, and for a customer. */
  readonly org: OrgKey | undefined;
  readonly revision: string;
  /** The time of the revision. */
  readonly time: string;
}

/** Where rows are inserted. */
export interface InsertTarget extends WriteTarget {
  readonly newId: NewId;
}

/** A row to insert: the fields of its message, if it is a named resource, and its own columns. */
export interface NewRow<Table extends ResourceTable> {
  readonly fields?: NamedFields;
  readonly columns: OwnColumns<Table>;
}

export type StoredRow<Table extends ResourceTable> = Selectable<Schema[Table]>;

interface Inserted<Table extends ResourceTable> {
  /** The columns that the definition names, in the order of the input. */
  readonly rows: StoredRow<Table>[];
  /** The new counts of the parents that got a row, by parent id. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Inserts rows of a resource in one statement, and updates labels and counts. */
export async function insertRows<Table extends ResourceTable, Row extends ResourceRow>(
  { db, org, revision, time, newId }: InsertTarget,
  definition: TypedDefinition<Table, Row>,
  rows: readonly NewRow<Table>[],
): Promise<Inserted<Table>> {
  const { type, storage } = definition;
  const [inOrg, named] = [isInOrg(definition), isNamed(definition)];
  const customerColumn = customerColumnOf(storage.table);
  const values = rows.map(({ fields, columns }) => ({
    ...(inOrg && { org_id: required(org).id }),
    ...(customerColumn !== undefined && { [customerColumn]: required(org).customer_id }),
    ...(named && { id: newId(), ...newNamedColumns(required(fields)) }),
    changed_revision: revision,
    create_time: time,
    update_time: time,
    ...columns,
  }));
  const [only] = values;
  if (only !== undefined && values.length === 1 && storage.countedBy !== undefined && hasParent(definition, only)) {
    const labels = storage.labels === "indexed" ? required(rows[0]?.fields).labels : {};
    const { row, count } = await insertRow(db, required(org), definition, only, labels);
    const parentId = (only as Readonly<Record<string, string>>)[storage.countedBy] ?? "";
    return { rows: [row as StoredRow<Table>], counts: new Map([[parentId, count]]) };
  }
  const { inserted, counts } = await insertCounted(db, org, definition, values);
  // RETURNING does not guarantee an order.
  const byKey = new Map(inserted.map((row) => [keyOf(definition, row), row as StoredRow<Table>]));
  const stored = values.map((value) => required(byKey.get(keyOf(definition, value))));
  if (storage.labels === "indexed") {
    // Those that are in no org may be of several customers.
    for (const together of inOrg ? [stored] : stored.map((row) => [row])) {
      const labelled = together.map((row) => ({
        id: idOf(definition, row),
        parentId: parentIdOf(definition, row),
        before: {},
        after: labelsOf(row),
      }));
      keepLabels(db, type, labelPlaceOf(definition, org, together[0] ?? {}), labelled);
    }
  }
  return { rows: stored, counts };
}

/** Whether a row has the id of its direct parent before it is inserted: the database computes that of some. */
function hasParent(definition: ResourceDefinition, row: object): boolean {
  const column = parentColumnOf(definition);
  return column === undefined || Object.hasOwn(row, column);
}

/** Inserts rows and adds to the counts of their parents: in one statement, if they have the same parent. */
async function insertCounted(
  db: WriteTransaction,
  org: OrgKey | undefined,
  definition: ResourceDefinition,
  values: readonly object[],
): Promise<{ readonly inserted: readonly object[]; readonly counts: ReadonlyMap<string, number> }> {
  const { type, storage } = definition;
  const added = countByParent(definition, values);
  const [first] = added;
  // Kysely types a statement for a specific table; these work for all tables.
  if (first === undefined || added.size > 1) {
    const inserted = await withRows(db.insertInto(storage.table), storage.table, values)
      .returning(storage.columns as never)
      .execute();
    return { inserted, counts: added.size === 0 ? added : await addToCounts(db, type, required(org), added) };
  }
  const [parentId, number] = first;
  const counted = additionToCount({ type, org: required(org), parentId }, number);
  const insert = db.with("counted", () => counted).insertInto(storage.table);
  const rows = await withRows(insert, storage.table, values)
    .returning([...storage.columns, sql<string>`(select count from counted)`.as("new_count")] as never)
    .execute();
  let count = 0;
  const inserted = (rows as unknown as readonly { readonly new_count: string }[]).map(({ new_count, ...row }) => {
    count = Number(new_count);
    return row;
  });
  return { inserted, counts: new Map([[parentId, count]]) };
}

/** Adds the rows to an insert. */
function withRows<Db, Table extends keyof Db & string>(
  insert: InsertQueryBuilder<Db, Table, InsertResult>,
  table: Table,
  values: readonly object[],
): InsertQueryBuilder<Db, Table, InsertResult> {
  const selected = values.length > 1 ? selectRows(table, values) : undefined;
  if (selected === undefined) return insert.values(values as never);
  return insert.columns(selected.columns as never).expression(selected.select as never);
}

/** Counts rows by the parent in which they are counted. */
export function countByParent(
  { storage: { countedBy } }: ResourceDefinition,
  rows: readonly object[],
  each: 1 | -1 = 1,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (countedBy === undefined) return counts;
  for (const row of rows) {
    const parentId = (row as Record<string, string>)[countedBy] ?? "";
    counts.set(parentId, (counts.get(parentId) ?? 0) + each);
  }
  return counts;
}

export function labelsOf(row: object): Readonly<Record<string, string>> {
  return (row as { readonly labels: Record<string, string> }).labels;
}

function newNamedColumns(fields: NamedFields) {
  return {
    ...namedColumns(fields),
    ...(fields.displayName === "" && { display_name: fields.name }),
  };
}
