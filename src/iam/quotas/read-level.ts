import { type Transaction, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { matchesPath } from "../../database/match-reference.ts";
import { type PathLookup, createPathLookup } from "../../database/path-lookup.ts";
import type { Schema } from "../../database/schema.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { required } from "../../errors/required.ts";
import { type Level, type LevelKind, type LevelRow, levels } from "./levels.ts";
import type { LedgerPlace } from "./ledger.ts";

/** Returns a function that reads a level with its quota, batched. Everything that it returns is from one statement. */
export function createLevelLookup(database: Database, level: Level): (path: readonly Reference[]) => Promise<LevelRow> {
  const { kind, pathLevels, select } = level;
  const lookup: PathLookup<object> = createPathLookup(database, {
    name: `${kind}_quotas`,
    levels: pathLevels,
    rows: select(database.reads),
  });
  return async (path) => toFound(level, await lookup(path), path);
}

/** Reads a level with its quota inside a transaction. */
export async function findLevel(db: Transaction<Schema>, level: Level, path: readonly Reference[]): Promise<LevelRow> {
  const row = await level
    .select(db)
    .where(sql<boolean>`${matchesPath(level.pathLevels, path)}`)
    .executeTakeFirst();
  return toFound(level, row, path);
}

/** Reads levels of a place in the ledger. */
export async function findLevels(
  db: Transaction<Schema>,
  place: LedgerPlace,
  kinds: ReadonlySet<LevelKind>,
): Promise<ReadonlyMap<LevelKind, LevelRow>> {
  const rows = new Map<LevelKind, LevelRow>();
  for (const kind of kinds) {
    const level = required(levels.find((each) => each.kind === kind));
    rows.set(kind, await findLevel(db, level, pathOf(place, kind)));
  }
  return rows;
}

function pathOf({ customerId, orgId, projectId }: LedgerPlace, level: LevelKind): Reference[] {
  const byId = (value: string): Reference => ({ by: "id", value });
  switch (level) {
    case "customer":
      return [byId(customerId)];
    case "org":
      return [byId(orgId)];
    case "project":
      return [byId(orgId), byId(projectId)];
  }
}

/** @throws ServiceError RESOURCE_NOT_FOUND */
function toFound({ kind, pattern, toLevelRow }: Level, row: unknown, path: readonly Reference[]): LevelRow {
  if (row === undefined) throw notFound(kind, formatReferences(pattern, path));
  return toLevelRow(row as never);
}
