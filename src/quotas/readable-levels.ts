// Whom a quota is shown to. What an answer or an error says of a quota is for those who may get the quota itself.
import type { Holds } from "../access/evaluation/author-holds.ts";
import { required } from "../errors/required.ts";
import type { AnyPath } from "../paths/parse-path.ts";
import { type LevelKind, type LevelRow, levels } from "./levels.ts";
import { permissionToGetQuotas } from "./permission.ts";

/** Reports whether somebody may get the quota of a level. */
export function mayGetQuota(holds: Holds, level: LevelRow): Promise<boolean> {
  return holds(permissionToGetQuotas, pathOf(level));
}

/** Returns the kinds of those levels whose quotas somebody may get. */
export async function readableKinds(holds: Holds, rows: Iterable<LevelRow>): Promise<ReadonlySet<LevelKind>> {
  const readable = new Set<LevelKind>();
  for (const row of rows) if (await mayGetQuota(holds, row)) readable.add(row.kind);
  return readable;
}

function pathOf({ kind, orgId, id }: LevelRow): AnyPath {
  const { pattern } = required(levels.find((each) => each.kind === kind));
  const ids = kind === "project" ? [required(orgId), id] : [id];
  return { pattern, references: ids.map((value) => ({ by: "id", value })) };
}
