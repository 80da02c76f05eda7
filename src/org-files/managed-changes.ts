// What an apply notes of who manages what.
import { required } from "../errors/required.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { createTurns } from "../scheduling/turns.ts";
import { type FileResource, type Identified, parentPathOf } from "./file-resources.ts";
import { limitOf, resourcePathOf } from "./limits.ts";
import { type ManagedResources, contentHashOf, identityHashOf, managerOf, pathHashOf } from "./managed-resources.ts";
import type { ManagedRow, Source } from "./managed-store.ts";
import type { Plan } from "./plan-changes.ts";
import type { OrgFile } from "./read-file.ts";
import type { OrgState } from "./read-state.ts";
import type { StateResource } from "./state-resource.ts";

/** A resource that the source of a file manages from an apply on. */
interface ManagedPut {
  /** Below the org. */
  readonly path: string;
  readonly pathHash: string;
  readonly contentHash: string;
  /** Undefined for what the apply creates, and for the limits of a project that it creates. */
  readonly identityHash: string | undefined;
}

/** What an apply notes: what the source of the file manages from then on, and of what nothing is left, by the hashes of paths. */
export interface ManagedChanges {
  readonly puts: readonly ManagedPut[];
  readonly removals: readonly string[];
  /** How many resources of the file another source manages, or nobody. */
  readonly adoptedCount: number;
}

/** Finds what an apply of a file from a source notes. */
export function* findManagedChanges(
  managed: ManagedResources,
  { address }: Pick<Source, "address">,
  state: OrgState,
  file: OrgFile,
  { changes, removed }: Plan,
): Steps<ManagedChanges> {
  const isStepOver = createStepCounter();
  const gone = new Set(removed.map(({ path }) => path));
  const replaced = new Set(changes.flatMap(({ action, path }) => (action === "replace" ? [path] : [])));
  const there = new Map(state.resources.map((resource) => [resource.path, resource]));
  const left = new Set<string>();
  for (const resource of state.resources) {
    if (!gone.has(resource.path) && managerOf(managed, resource) !== undefined) left.add(pathHashOf(resource));
    if (isStepOver()) yield;
  }
  const puts: ManagedPut[] = [];
  let adoptedCount = 0;
  for (const resource of file.resources) {
    if (isStepOver()) yield;
    const [pathHash, contentHash] = [pathHashOf(resource), contentHashOf(resource)];
    left.add(pathHash);
    const present = there.get(resource.path);
    const manager = present && managerOf(managed, present);
    if (manager?.address !== address) adoptedCount++;
    const isKept = present !== undefined && !replaced.has(resource.path);
    const identityHash = isKept ? identityHashOf(present) : identityOfLevel(resource, state.id, there);
    const isNoted =
      manager?.address === address && manager.contentHash === contentHash && manager.identityHash === identityHash;
    if (!isKept || !isNoted) puts.push({ path: resource.path, pathHash, contentHash, identityHash });
  }
  return { puts, removals: [...managed.keys()].filter((hash) => !left.has(hash)), adoptedCount };
}

/** Returns the identity of a limit that is set, which is that of the org or project; undefined for another resource. */
function identityOfLevel(
  resource: FileResource,
  orgId: string,
  there: ReadonlyMap<string, StateResource>,
): string | undefined {
  const level = limitOf(resource)?.level;
  const id = level === "" ? orgId : there.get(level ?? "")?.id;
  return id === undefined ? undefined : identityHashOf({ id });
}

/**
 * Returns the rows of what a source manages, after the apply has created what it creates, which is given by paths below the org. Makes them in
 * turns of the event loop.
 */
export async function toManagedRows(
  puts: readonly ManagedPut[],
  created: ReadonlyMap<string, Identified>,
): Promise<readonly ManagedRow[]> {
  const turns = createTurns();
  const rows: ManagedRow[] = [];
  for (const put of puts) {
    rows.push({
      pathHash: Buffer.from(put.pathHash, "hex"),
      contentHash: Buffer.from(put.contentHash, "hex"),
      identityHash: Buffer.from(put.identityHash ?? createdIdentityOf(put, created), "hex"),
    });
    const turn = turns();
    if (turn !== undefined) await turn;
  }
  return rows;
}

function createdIdentityOf({ path }: ManagedPut, created: ReadonlyMap<string, Identified>): string {
  if (resourcePathOf(path) === path) return identityHashOf(required(created.get(path)));
  const { id } = required(created.get(parentPathOf(path)));
  return identityHashOf({ id });
}
