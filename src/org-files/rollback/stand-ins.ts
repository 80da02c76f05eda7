// A group, role or role binding that was deleted for good can have been made again, by hand or by a rollback. Then it is known by its name: what
// there was is read as if it had had the id of what there is. So a second rollback to the same moment changes nothing.
import type { FileType } from "../file-resources.ts";

export type Columns = Readonly<Record<string, unknown>>;

/** The rows of an org, by types in their order: each refers to earlier ones only. */
export type RowsByType = ReadonlyMap<FileType, readonly Columns[]>;

/** What must be the same besides the name, since it cannot be changed. */
const identities: Partial<Readonly<Record<FileType, readonly string[]>>> = {
  role: [],
  group: [],
  "role binding": ["scope_type", "project_id", "member_id", "group_id", "role_id", "predefined_role"],
};

/** Returns the rows of then, with the ids of what stands for them now. */
export function withStandIns(then: RowsByType, now: RowsByType): RowsByType {
  const ids = new Map<unknown, unknown>();
  const mapped = new Map<FileType, readonly Columns[]>();
  for (const [type, rows] of then) {
    const known = ids.size === 0 ? rows : rows.map((row) => withIds(row, ids));
    const identity = identities[type];
    const found = identity === undefined ? undefined : findStandIns(known, now.get(type) ?? [], identity);
    for (const [id, other] of found ?? []) ids.set(id, other);
    mapped.set(type, found === undefined || found.size === 0 ? known : known.map((row) => withIds(row, found)));
  }
  return mapped;
}

function findStandIns(
  then: readonly Columns[],
  now: readonly Columns[],
  identity: readonly string[],
): ReadonlyMap<unknown, unknown> {
  const idsOf = (rows: readonly Columns[]) => new Set(rows.map((row) => row["id"]));
  const [thenIds, nowIds] = [idsOf(then), idsOf(now)];
  const keyOf = (row: Columns): string => JSON.stringify(["name", ...identity].map((column) => row[column] ?? null));
  const made = new Map(now.flatMap((row) => (thenIds.has(row["id"]) ? [] : [[keyOf(row), row["id"]] as const])));
  return new Map(
    then.flatMap((row) => {
      const standIn = nowIds.has(row["id"]) ? undefined : made.get(keyOf(row));
      return standIn === undefined ? [] : [[row["id"], standIn] as const];
    }),
  );
}

function withIds(row: Columns, ids: ReadonlyMap<unknown, unknown>): Columns {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, ids.get(value) ?? value]));
}
