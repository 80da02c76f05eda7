import type { JsonObject } from "@bufbuild/protobuf";
import { Change_Type, type WatchChangesResponse } from "../../gen/iam/v1alpha/change_pb.ts";

/** A copy of the resources of an org that is made of a stream, by their `key_path`. */
export type CopyOfOrg = Map<string, JsonObject>;

/** What removes a resource, if it has no `after`. An erased member has an empty key in the entry of its deletion. */
const removals: ReadonlySet<Change_Type> = new Set([Change_Type.DELETED, Change_Type.EXPIRED, Change_Type.ERASED]);

/** Applies a message to a copy, as the comment of `key_path` says. */
export function applyTo(copy: CopyOfOrg, { event, keyPath }: WatchChangesResponse): void {
  if (event.case === "state") copy.set(keyPath, event.value.resource ?? {});
  if (event.case !== "change" || keyPath === "") return;
  const { type, after } = event.value;
  if (after !== undefined) copy.set(keyPath, after);
  else if (removals.has(type)) remove(copy, keyPath);
}

function remove(copy: CopyOfOrg, keyPath: string): void {
  const isIn = (path: unknown): boolean =>
    typeof path === "string" && (path === keyPath || path.startsWith(`${keyPath}/`));
  for (const [key, resource] of copy) {
    const refers = Object.entries(resource).some(([field, path]) => field.endsWith("_path") && isIn(path));
    if (isIn(key) || refers) copy.delete(key);
  }
}

/** Returns a copy as an object without what changes without an entry: how what contains a resource is called, and when a key was used. */
export function comparable(copy: CopyOfOrg): Readonly<Record<string, JsonObject>> {
  const entries = [...copy].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, { path: _path, last_use_time: _time, ...resource }]) => [key, resource]),
  );
}
