// What has become different since applies.
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { type ManagedResources, contentHashOf, managerOf, notedAt } from "./managed-resources.ts";
import type { Source } from "./managed-store.ts";
import type { OrgFile } from "./read-file.ts";
import type { OrgState } from "./read-state.ts";

export interface Drift {
  readonly kind: "changed" | "removed" | "unmanaged";
  /** Below the org. */
  readonly path: string;
  readonly managedBy: Source | undefined;
}

/** Compares an org, as it is, with what applies have made of it, in the order of its resources. */
export function* findDrifts(managed: ManagedResources, state: OrgState, file: OrgFile): Steps<readonly Drift[]> {
  const isStepOver = createStepCounter();
  const inFile = new Set(file.resources.map(({ path }) => path));
  const there = new Map(state.resources.map((resource) => [resource.path, resource]));
  const drifts: Drift[] = [];
  for (const resource of state.resources) {
    const manager = managerOf(managed, resource);
    if (manager === undefined && !inFile.has(resource.path))
      drifts.push({ kind: "unmanaged", path: resource.path, managedBy: undefined });
    if (manager !== undefined && contentHashOf(resource) !== manager.contentHash)
      drifts.push({ kind: "changed", path: resource.path, managedBy: manager });
    if (isStepOver()) yield;
  }
  for (const resource of file.resources) {
    const noted = notedAt(managed, resource);
    const present = there.get(resource.path);
    const isThere = present !== undefined && managerOf(managed, present) !== undefined;
    if (noted !== undefined && !isThere) drifts.push({ kind: "removed", path: resource.path, managedBy: noted });
    if (isStepOver()) yield;
  }
  return drifts;
}
