import { type Transaction, sql } from "kysely";
import type { Visibility } from "../access/evaluation/visibility.ts";
import type { Database } from "../database/database.ts";
import { matchesPath } from "../database/match-reference.ts";
import { createPathLookup } from "../database/path-lookup.ts";
import type { Schema } from "../database/schema.ts";
import { required } from "../errors/required.ts";
import { notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/parse-path.ts";
import { createVisibleLookup } from "../standard-methods/read/visible-lookup.ts";
import { type LedgerPlace, type Level, type LevelKind, type LevelRow, levels } from "./levels.ts";

/** Returns a function that reads a level with its quota, batched. Everything that it returns is from one statement. */
export function createLevelLookup(
  database: Database,
  level: Level,
): (path: readonly Reference[], visible: Visibility) => Promise<LevelRow> {
  const { kind, pathLevels, select } = level;
  const rows = select(database.reads);
  const found = createPathLookup<object>(database, { name: `${kind}_quotas`, levels: pathLevels, rows });
  // A quota is in the project that it limits.
  const lookup = createVisibleLookup(found, pathLevels);
  return async (path, visible) => toFound(level, await lookup(path, visible), path);
}

/** Reads a level with its quota inside a transaction. */
export async function findLevel(db: Transaction<Schema>, level: Level, path: readonly Reference[]): Promise<LevelRow> {
  const row = await level
    .select(db)
    .where(sql<boolean>`${matchesPath(level.pathLevels, path)}`)
    .executeTakeFirst();
  return toFound(level, row, path);
}

/** Reads a level by the ids of one that exists. */
export function findLevelById(
  db: Transaction<Schema>,
  { kind, orgId, id }: Pick<LevelRow, "kind" | "orgId" | "id">,
): Promise<LevelRow> {
  const level = required(levels.find((each) => each.kind === kind));
  const ids = kind === "project" ? [required(orgId), id] : [id];
  return findLevel(
    db,
    level,
    ids.map((value) => ({ by: "id", value })),
  );
}

/** Reads levels of a place in the ledger. */
export async function findLevels(
  db: Transaction<Schema>,
  { customerId, orgId, projectId }: LedgerPlace,
  kinds: ReadonlySet<LevelKind>,
): Promise<ReadonlyMap<LevelKind, LevelRow>> {
  const ids = { customer: customerId, org: orgId, project: projectId };
  const rows = new Map<LevelKind, LevelRow>();
  for (const kind of kinds) rows.set(kind, await findLevelById(db, { kind, orgId, id: ids[kind] }));
  return rows;
}

/** @throws ServiceError RESOURCE_NOT_FOUND */
function toFound({ kind, pattern, toLevelRow }: Level, row: unknown, path: readonly Reference[]): LevelRow {
  if (row === undefined) throw notFound(kind, formatReferences(pattern, path));
  return toLevelRow(row as never);
}
