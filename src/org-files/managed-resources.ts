// Who manages the resources of an org: which resource of which path, and by which source.
import { createHash } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Schema } from "../database/schema.ts";
import { createTurns } from "../scheduling/turns.ts";
import { type FileResource, type Identified, schemaOf } from "./file-resources.ts";
import { type Source, readManagedRows } from "./managed-store.ts";
import type { StateResource } from "./state-resource.ts";

export interface Managed extends Source {
  /** In hex, as all hashes here. */
  readonly contentHash: string;
  /** Undefined in what a version has noted that did not know it: then it is what is at the path. */
  readonly identityHash: string | undefined;
}

/** Who manages the resources of an org, by the hashes of their paths. */
export type ManagedResources = ReadonlyMap<string, Managed>;

const hashLength = 16;

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest().subarray(0, hashLength).toString("hex");

export const pathHashOf = ({ path }: Pick<FileResource, "path">): string => hashOf(path);

export function contentHashOf({ type, message }: FileResource): string {
  return hashOf(JSON.stringify(toJson(schemaOf(type), message)));
}

/** Differs for what was made again at the same path, also for a membership, which has the id of its member. */
export function identityHashOf({ id, createTime }: Pick<Identified, "id" | "createTime">): string {
  return hashOf(`${id} ${createTime?.seconds}.${createTime?.nanos}`);
}

/** Reads them, in turns of the event loop. */
export async function readManaged(db: Kysely<Schema>, orgId: string): Promise<ManagedResources> {
  const rows = await readManagedRows(db, orgId);
  const turns = createTurns();
  const found = new Map<string, Managed>();
  for (const { path_hash: pathHash, content_hash: contentHash, identity_hash: identityHash, source, version } of rows) {
    found.set(pathHash.toString("hex"), {
      contentHash: contentHash.toString("hex"),
      identityHash: identityHash?.toString("hex"),
      address: source,
      version,
    });
    const turn = turns();
    if (turn !== undefined) await turn;
  }
  return found;
}

/** Returns who manages a resource of the org; undefined for nobody, also if another one at its path was managed. */
export function managerOf(managed: ManagedResources, resource: StateResource): Managed | undefined {
  const noted = notedAt(managed, resource);
  const isIt = noted?.identityHash === undefined || noted.identityHash === identityHashOf(resource);
  return isIt ? noted : undefined;
}

/** Returns what is noted for a path, of what is there or was. */
export function notedAt(managed: ManagedResources, resource: Pick<FileResource, "path">): Managed | undefined {
  return managed.get(pathHashOf(resource));
}

/**
 * Whether the same sources manage the same resources with the same contents. Compares them in turns of the event loop: there are as many as
 * a file has resources.
 */
export async function isSameManaged(one: ManagedResources, other: ManagedResources): Promise<boolean> {
  if (one.size !== other.size) return false;
  const turns = createTurns();
  for (const [pathHash, { address, version, contentHash, identityHash }] of one) {
    const noted = other.get(pathHash);
    const isSame =
      noted?.address === address &&
      noted.version === version &&
      noted.contentHash === contentHash &&
      noted.identityHash === identityHash;
    if (!isSame) return false;
    const turn = turns();
    if (turn !== undefined) await turn;
  }
  return true;
}
