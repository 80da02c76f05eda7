// Copies a snapshot by its parts, as a file does, but at once.
import { deserialize, serialize } from "node:v8";
import {
  type OrgSnapshot,
  type OrgSnapshotOptions,
  createOrgSnapshot,
} from "../../../src/access/engine/org-snapshot.ts";
import type { ArraysState, StoredPart } from "../../../src/access/engine/tables/stored-part.ts";

/** What a snapshot computes again, or uses only within a call. Everything else has to be in a part. */
export const leftOut = new Set([
  // Within a decision, and the marks of the last one are removed before a copy is made.
  "createEffectiveGroups.found",
  "createEffectiveGroups.direct",
  "createEffectiveGroups.count",
  "createEffectiveGroups.bits",
  "createIdTable.words",
  "createIdTable.lastRead",
  // A cache.
  "createGroupClosure.cached",
  "createGroupClosure.entries",
  // A condition is compiled when it is first used.
  ".test",
  // Stands for this snapshot.
  "createOrgSnapshot.numbering",
  // A new snapshot knows only its own revision, also when it is read from the tables.
  "createOrgSnapshot.reached",
  // The arguments, from which everything is made.
  "createOrgSnapshot.options",
]);

type Content = { readonly rows: readonly unknown[] } | ArraysState;

/** What a snapshot keeps, and nothing that it changes. */
export interface SnapshotCopy {
  readonly orgId: string;
  readonly revision: string;
  readonly contents: readonly Content[];
}

export function takeCopy(snapshot: OrgSnapshot): SnapshotCopy {
  snapshot.effectiveGroups.clear();
  return { orgId: snapshot.org.id, revision: snapshot.revision, contents: snapshot.parts().map(contentOf) };
}

function contentOf(part: StoredPart): Content {
  if (part.kind === "rows") return clone({ rows: [...part.rows()] });
  const { release, ...state } = part.share();
  release();
  return clone(state);
}

export function fromCopy(
  { orgId, revision, contents }: SnapshotCopy,
  options: Omit<OrgSnapshotOptions, "org">,
): OrgSnapshot {
  const org = { id: orgId, name: "", customer_id: "", state: "ACTIVE", revision } as const;
  const snapshot = createOrgSnapshot({ ...options, org });
  for (const [index, part] of snapshot.parts().entries()) {
    const content = clone(contents[index] as Content);
    if (part.kind === "arrays") part.adopt(content as ArraysState);
    else for (const row of (content as { readonly rows: readonly unknown[] }).rows) part.add(row);
  }
  return snapshot;
}

const clone = <Value>(value: Value): Value => deserialize(serialize(value)) as Value;
