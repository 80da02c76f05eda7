// Who manages the resources of an org, what has become different since, and what an apply notes.
import { createHash } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Schema } from "../database/schema.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { type FileResource, fileForms } from "./file-resources.ts";
import { type ManagedRow, type Source, readManagedRows } from "./managed-store.ts";
import type { OrgFile } from "./read-file.ts";
import type { OrgState } from "./read-state.ts";

interface Managed extends Source {
  /** In hex. */
  readonly contentHash: string;
}

/** Who manages the resources of an org, by the hashes of their paths. */
export type ManagedResources = ReadonlyMap<string, Managed>;

export interface Drift {
  readonly kind: "changed" | "removed" | "unmanaged";
  /** Below the org. */
  readonly path: string;
  readonly managedBy: Source | undefined;
}

/** What an apply notes: what the source of the file manages from then on, and of what nothing is left. */
export interface ManagedChanges {
  readonly puts: readonly ManagedRow[];
  readonly removals: readonly Buffer[];
  /** How many resources of the file another source manages, or nobody. */
  readonly adoptedCount: number;
}

const hashLength = 16;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest().subarray(0, hashLength);

function contentHashOf({ type, message }: FileResource): Buffer {
  return hashOf(JSON.stringify(toJson(fileForms[type].schema, message)));
}

export async function readManaged(db: Kysely<Schema>, orgId: string): Promise<ManagedResources> {
  const rows = await readManagedRows(db, orgId);
  return new Map(
    rows.map(({ path_hash: pathHash, content_hash: contentHash, source, version }) => [
      pathHash.toString("hex"),
      { contentHash: contentHash.toString("hex"), address: source, version },
    ]),
  );
}

/** Returns who manages what is at a path below the org; undefined for nobody. */
export function managerOf(managed: ManagedResources, path: string): Managed | undefined {
  return managed.get(hashOf(path).toString("hex"));
}

/** Compares an org, as it is, with what applies have made of it, in the order of its resources. */
export function* findDrifts(managed: ManagedResources, state: OrgState, file: OrgFile): Steps<readonly Drift[]> {
  const isStepOver = createStepCounter();
  const [inFile, there] = [file.resources, state.resources].map((each) => new Set(each.map(({ path }) => path)));
  const drifts: Drift[] = [];
  for (const resource of state.resources) {
    const manager = managerOf(managed, resource.path);
    if (manager === undefined && inFile?.has(resource.path) !== true)
      drifts.push({ kind: "unmanaged", path: resource.path, managedBy: undefined });
    if (manager !== undefined && contentHashOf(resource).toString("hex") !== manager.contentHash)
      drifts.push({ kind: "changed", path: resource.path, managedBy: manager });
    if (isStepOver()) yield;
  }
  for (const { path } of file.resources) {
    const manager = there?.has(path) === true ? undefined : managerOf(managed, path);
    if (manager !== undefined) drifts.push({ kind: "removed", path, managedBy: manager });
    if (isStepOver()) yield;
  }
  return drifts;
}

/** Finds what an apply of a file from a source notes. */
export function* findManagedChanges(
  managed: ManagedResources,
  { address }: Pick<Source, "address">,
  state: OrgState,
  file: OrgFile,
  removed: readonly FileResource[],
): Steps<ManagedChanges> {
  const isStepOver = createStepCounter();
  const gone = new Set(removed.map(({ path }) => path));
  const left = new Set<string>();
  for (const { path } of state.resources) {
    if (!gone.has(path)) left.add(hashOf(path).toString("hex"));
    if (isStepOver()) yield;
  }
  const puts: ManagedRow[] = [];
  let adoptedCount = 0;
  for (const resource of file.resources) {
    if (isStepOver()) yield;
    const [pathHash, contentHash] = [hashOf(resource.path), contentHashOf(resource)];
    const manager = managed.get(pathHash.toString("hex"));
    left.add(pathHash.toString("hex"));
    if (manager?.address !== address) adoptedCount++;
    else if (manager.contentHash === contentHash.toString("hex")) continue;
    puts.push({ pathHash, contentHash });
  }
  const removals = [...managed.keys()].filter((hash) => !left.has(hash)).map((hash) => Buffer.from(hash, "hex"));
  return { puts, removals, adoptedCount };
}
