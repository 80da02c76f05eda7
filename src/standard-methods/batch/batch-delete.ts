import type { DescMessage } from "@bufbuild/protobuf";
import type { Transaction } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type WriteLocks, lockCustomersFirst, lockCustomersOfLogs } from "../../changes/write-locks.ts";
import type { Schema } from "../../database/schema.ts";
import { type ServiceError, invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import { required } from "../../errors/required.ts";
import { idOf } from "../rows/row-key.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteCall } from "../write/write-call.ts";
import { isGone, requireFound } from "../write/require-found.ts";
import { deleteUnder, planRemoval } from "../write/delete-one.ts";
import { locksOf } from "../write/open-write.ts";
import { writeRows } from "../write/write-rows.ts";
import { type AtItem, atItemOf, errorAtItem } from "./batch-item.ts";
import type { BatchPath, DeletedPath } from "./batch-paths.ts";

/** A resource found at a path. */
interface Found<At, Row> {
  readonly at: At;
  readonly row: Row;
}

/** A resource that is deleted: by its id, so that it is the one that was found. */
interface Doomed {
  readonly at: DeletedPath;
  readonly path: readonly Reference[];
  readonly locks: WriteLocks;
}

const atPath = atItemOf("paths");

/**
 * Deletes the resources at the paths of a batch. Returns the rows that stay readable, by index; the other indexes are empty or
 * null.
 */
export async function deleteAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parent: readonly Reference[],
  paths: readonly DeletedPath[],
): Promise<(Row | null)[]> {
  const { rules } = served;
  const { allowMissing } = call.request;
  if (rules.scope.kind === "itself") {
    lockCustomersFirst(
      call.db,
      paths.flatMap(({ path }) => path),
    );
  }
  if (allowMissing) {
    // As in a single Delete, this succeeds even if the parent no longer exists.
    const found = await findAll(served, call.db, paths, true);
    if (found.every(({ row }) => isGone(row))) {
      const left: Row[] = [];
      for (const { at, row } of found) left[at.index] = row;
      return left;
    }
  }
  switch (rules.scope.kind) {
    case "parent":
    case "fixed":
      return deleteTogether(served, call, parent, paths);
    case "customer":
      return parent.length > 0 ? deleteTogether(served, call, parent, paths) : deleteOneByOne(served, call, paths);
    case "itself":
    case "each":
      return deleteOneByOne(served, call, paths);
  }
}

/** Deletes resources that are all under the same lock. */
async function deleteTogether<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  parent: readonly Reference[],
  paths: readonly DeletedPath[],
): Promise<(Row | null)[]> {
  const { allowMissing } = call.request;
  const indexes: number[] = [];
  const atRow: AtItem = (position, run) => atPath(required(indexes[position]), run);
  const locks = await locksOf(served.rules.scope, call.db, parent);
  const prepare = async (transaction: OrgTransaction) => {
    const left: (Row | null)[] = [];
    const doomed: Row[] = [];
    for (const { at, row } of await findAll(served, transaction.db, paths, allowMissing)) {
      if (allowMissing && isGone(row)) {
        left[at.index] = row;
        continue;
      }
      await atPath(at.index, () => requireFound(served, transaction, row, at.written, at.etag));
      indexes[doomed.push(row) - 1] = at.index;
    }
    return planRemoval(served, transaction, doomed, atRow, (rows) => {
      for (const [position, row] of rows.entries()) left[required(indexes[position])] = row;
      return left;
    });
  };
  return writeRows(served, call, { locks, prepare, atItem: atRow });
}

/** Deletes resources that each need their own lock, and may change until it is held. */
async function deleteOneByOne<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  paths: readonly DeletedPath[],
): Promise<(Row | null)[]> {
  const { allowMissing } = call.request;
  const left: (Row | null)[] = [];
  const doomed: Doomed[] = [];
  for (const { at, row } of await findAll(served, call.db, paths, allowMissing)) {
    if (allowMissing && isGone(row)) left[at.index] = row;
    else {
      const path: Reference[] = [...at.path.slice(0, -1), { by: "id", value: idOf(served.definition, row) }];
      const locks = await atPath(at.index, () => locksOf(served.rules.scope, call.db, path));
      doomed.push({ at, path, locks });
    }
  }
  lockCustomersOfLogs(
    call.db,
    doomed.map(({ locks }) => locks),
  );
  for (const each of doomed) left[each.at.index] = await atPath(each.at.index, () => deleteAlone(served, call, each));
  return left;
}

async function deleteAlone<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  { at: { index, written, etag }, path, locks }: Doomed,
): Promise<Row | null> {
  const { request } = call;
  const { author } = request;
  const ofItem: typeof author = { ...author, confirm: (db, org) => author.confirm(db, org, index) };
  return deleteUnder(served, { ...call, request: { ...request, author: ofItem } }, locks, path, etag, written);
}

/**
 * Looks up the resources at paths. Returns those that exist, ordered by id, which is the order in which several locks are
 * taken.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND at the first path that names nothing, unless `allowMissing`; FIELD_INVALID for a
 * resource that is named twice.
 */
export async function findAll<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  At extends BatchPath,
>(
  { definition, place, reader }: ServedResource<Table, Row, Desc>,
  db: Transaction<Schema>,
  paths: readonly At[],
  allowMissing: boolean,
): Promise<Found<At, Row>[]> {
  const label = definition.label.one;
  const rows = await reader.lookup.all(
    db,
    paths.map(({ path }) => path),
  );
  const byId = new Map<string, Found<At, Row>>();
  for (const at of paths) {
    const row = rows[at.index];
    if (row === undefined) {
      if (allowMissing) continue;
      throw errorAtItem(notFound(label, formatReferences(place.pattern, at.written)), "paths", at.index);
    }
    const id = idOf(definition, row);
    const same = byId.get(id);
    if (same !== undefined) throw namedTwice(label, same.at.index, at.index);
    byId.set(id, { at, row });
  }
  return [...byId].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, found]) => found);
}

function namedTwice(label: string, before: number, index: number): ServiceError {
  return invalidField(`paths[${index}]`, `names the same ${label} as paths[${before}]`, "unique");
}
