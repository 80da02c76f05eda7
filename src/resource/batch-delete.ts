import type { DescMessage } from "@bufbuild/protobuf";
import type { Transaction } from "kysely";
import type { Schema } from "../database/schema.ts";
import { type ServiceError, invalidField, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type AtItem, atItemOf, errorAt } from "./batch-item.ts";
import type { BatchPath } from "./batch-paths.ts";
import type { ResourceWriter } from "./resource-writer.ts";
import { required } from "./required.ts";
import { type Resource, type ResourceRow, patternOf } from "./resource.ts";
import { isGone } from "./standard-methods.ts";
import type { WriteRequest } from "./write-request.ts";

/** Deletes what is at the paths; answers what stays readable of it by index, with gaps where nothing does or was. */
export type BatchDelete<Row> = (
  db: Transaction<Schema>,
  parent: readonly Reference[],
  paths: readonly BatchPath[],
  request: WriteRequest,
) => Promise<(Row | null)[]>;

/** What was found at a path. */
interface Found<Row> {
  readonly at: BatchPath;
  readonly row: Row;
}

export function createBatchDelete<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
  writer: ResourceWriter<Desc, Row>,
): BatchDelete<Row> {
  const { type, label, idOf } = resource;
  const atPath = atItemOf("paths");

  /**
   * Those that are there, in the order of their ids, in which whoever needs several locks takes them.
   *
   * @throws ServiceError RESOURCE_NOT_FOUND at the first that is not, unless that is allowed; FIELD_INVALID for one that is
   *   named twice.
   */
  const findAll = async (
    db: Transaction<Schema>,
    paths: readonly BatchPath[],
    allowMissing: boolean,
  ): Promise<Found<Row>[]> => {
    const rows = await resource.lookup.all(
      db,
      paths.map(({ path }) => path),
    );
    const byId = new Map<string, Found<Row>>();
    for (const at of paths) {
      const row = rows[at.index];
      if (row === undefined) {
        if (allowMissing) continue;
        throw errorAt(notFound(label, formatReferences(patternOf(resource), at.written)), "paths", at.index);
      }
      const same = byId.get(idOf(row));
      if (same !== undefined) throw namedTwice(label, same.at.index, at.index);
      byId.set(idOf(row), { at, row });
    }
    return [...byId.values()].toSorted((one, other) => (idOf(one.row) < idOf(other.row) ? -1 : 1));
  };

  /** Deletes what all is under one lock. */
  const deleteTogether: BatchDelete<Row> = (db, parent, paths, request) =>
    writer.inScope(db, parent, request, async (transaction) => {
      const left: (Row | null)[] = [];
      const doomed: Found<Row>[] = [];
      for (const found of await findAll(transaction.db, paths, request.allowMissing)) {
        if (request.allowMissing && isGone(found.row)) left[found.at.index] = found.row;
        else doomed.push(found);
      }
      const indexes = doomed.map(({ at }) => at.index);
      const atRow: AtItem = (position, run) => atPath(required(indexes[position]), run);
      const rows = doomed.map(({ row }) => row);
      for (const [position, row] of (await writer.removeAll(transaction, rows, atRow)).entries()) {
        left[required(indexes[position])] = row;
      }
      return left;
    });

  /** Deletes what is each under a lock of its own, and may have changed until that is held. */
  const deleteOneByOne: BatchDelete<Row> = async (db, _parent, paths, request) => {
    const left: (Row | null)[] = [];
    for (const { at, row } of await findAll(db, paths, request.allowMissing)) {
      left[at.index] =
        request.allowMissing && isGone(row) ? row : await atPath(at.index, () => deleteAlone(db, at, row, request));
    }
    return left;
  };

  const deleteAlone = (
    db: Transaction<Schema>,
    { written, path: place }: BatchPath,
    row: Row,
    request: WriteRequest,
  ): Promise<Row | null> => {
    const path: Reference[] = [...place.slice(0, -1), { by: "id", value: idOf(row) }];
    return writer.inScope(db, path, request, async (transaction) => {
      const locked = await resource.find(transaction.db, path);
      if (request.allowMissing && isGone(locked)) return locked ?? null;
      return writer.remove(transaction, writer.requireFound(locked, written, ""));
    });
  };

  return async (db, parent, paths, request) => {
    await resource.lockBefore?.(
      db,
      paths.map(({ path }) => path),
    );
    if (request.allowMissing) {
      // As for one: also when what they were in is gone.
      const found = await findAll(db, paths, true);
      if (found.every(({ row }) => isGone(row))) {
        const left: Row[] = [];
        for (const { at, row } of found) left[at.index] = row;
        return left;
      }
    }
    return type === "Org" || resource.findScope !== undefined
      ? deleteOneByOne(db, parent, paths, request)
      : deleteTogether(db, parent, paths, request);
  };
}

function namedTwice(label: string, before: number, index: number): ServiceError {
  return invalidField(`paths[${index}]`, `names the same ${label} as paths[${before}]`, "unique");
}
