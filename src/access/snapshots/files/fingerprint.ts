import { createHash } from "node:crypto";
import { endianness } from "node:os";
import type { OrgSnapshot } from "../../engine/org-snapshot.ts";
import { ownAreas } from "../../engine/tables/permission-class.ts";
import type { PredefinedRoles } from "../../engine/tables/role-table.ts";

/**
 * The version of what the arrays and rows mean. It must be raised when they mean something else although their layouts are the
 * same: a test fails then.
 */
export const formatVersion = 2;

/** What decides about all files of a server. */
export interface FileContext {
  /** The version of the service: another one may read other rows, or apply changes in another way. */
  readonly version: string;
  /** The migrations that this version knows. */
  readonly migrations: readonly string[];
  /** Says which database it is. */
  readonly installation: string;
  /** They number the roles and their permissions. */
  readonly predefinedRoles: PredefinedRoles;
}

/** Returns a function that returns a text for all that decides how the file of a snapshot is to be read. */
export function createFingerprint(context: FileContext): (snapshot: OrgSnapshot) => string {
  const common = JSON.stringify([formatVersion, endianness(), [...ownAreas], context]);
  return ({ parts }) => {
    const layouts = JSON.stringify(parts().map(({ kind, layout }) => [kind, layout]));
    return createHash("sha256").update(common).update(layouts).digest("hex");
  };
}
