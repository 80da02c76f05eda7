import type { JsonObject } from "@bufbuild/protobuf";
import { Change_Type, type WatchChangesResponse } from "../../gen/iam/v1alpha/change_pb.ts";

interface Copied {
  readonly resource: JsonObject;
  /** The keys of what takes it along when it is removed. */
  readonly ownerPaths: readonly string[];
}

/** A copy of the resources of an org that is made of a stream, by their `key_path`. */
export type CopyOfOrg = Map<string, Copied>;

/** What removes a resource, if it has no `after`. An erased member has an empty key in the entry of its deletion. */
const removals: ReadonlySet<Change_Type> = new Set([Change_Type.DELETED, Change_Type.EXPIRED, Change_Type.ERASED]);

/** Applies a message to a copy, as the comment of `key_path` says. */
export function applyTo(copy: CopyOfOrg, { event, keyPath, ownerPaths }: WatchChangesResponse): void {
  if (event.case === "state") copy.set(keyPath, { resource: event.value.resource ?? {}, ownerPaths });
  if (event.case !== "change" || keyPath === "") return;
  const { type, after } = event.value;
  if (after !== undefined) copy.set(keyPath, { resource: after, ownerPaths });
  else if (removals.has(type)) remove(copy, keyPath);
}

function remove(copy: CopyOfOrg, keyPath: string): void {
  const isIn = (path: string): boolean => path === keyPath || path.startsWith(`${keyPath}/`);
  for (const [key, { ownerPaths }] of copy) if ([key, ...ownerPaths].some(isIn)) copy.delete(key);
}

/** Returns a copy as an object without what changes without an entry: how what contains a resource is called, and when a key was used. */
export function comparable(copy: CopyOfOrg): Readonly<Record<string, Copied>> {
  const entries = [...copy].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, { resource: full, ownerPaths }]) => {
      const { path: _path, last_use_time: _time, ...resource } = full;
      return [key, { resource, ownerPaths }];
    }),
  );
}
