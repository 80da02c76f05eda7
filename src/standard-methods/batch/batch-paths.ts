import { type Visibility, unlimited } from "../../access/evaluation/visibility.ts";
import { invalidField } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { type Reference, type Wildcards, parseResourcePath } from "../../paths/parse-path.ts";
import { checkItems } from "./batch-item.ts";
import type { ResourcePlace } from "../definition/definition.ts";
import type { RowReader } from "../read/row-reader.ts";
import { createWithinParent } from "./within-parent.ts";

/** A path of a batch request. */
export interface BatchPath {
  readonly index: number;
  readonly written: readonly Reference[];
  /** The same path, below the parent as the request names it, so that a write acts only on what it has locked. */
  readonly path: readonly Reference[];
}

/** What a BatchDelete names: no etags, or one for each path. */
export interface Deletions {
  readonly paths: readonly string[];
  readonly etags: readonly string[];
}

/** A path of what is deleted, with the etag that it must have; empty for any. */
export interface DeletedPath extends BatchPath {
  readonly etag: string;
}

/**
 * Reads the paths of a batch request, which must all be below its parent.
 *
 * @throws ServiceError PATH_INVALID or FIELD_INVALID with all invalid paths. The error does not reveal whether a path outside
 * of the parent exists.
 */
export function readBatchPaths(
  { place, reader }: { readonly place: ResourcePlace; readonly reader: Pick<RowReader<unknown>, "resolveParent"> },
  parent: readonly Reference[],
  visible: Visibility,
  texts: readonly string[],
  wildcards: Wildcards,
): Promise<BatchPath[]> {
  const { pattern } = place;
  const within = createWithinParent((path) => reader.resolveParent(path, visible), parent);
  return checkItems(texts, async (text, index) => {
    const field = `paths[${index}]`;
    const written: readonly Reference[] = parseResourcePath(pattern, text, field, wildcards);
    const inParent = await within(written.slice(0, -1));
    if (inParent === undefined) {
      throw invalidField(field, `must lie below ${formatReferences(pattern.slice(0, -1), parent)}`, "parent");
    }
    return { index, written, path: [...inParent, ...written.slice(-1)] };
  });
}

/**
 * Reads the paths of a BatchDelete, and the etags beside them.
 *
 * @throws ServiceError PATH_INVALID or FIELD_INVALID as `readBatchPaths`; FIELD_INVALID for another number of etags than of paths.
 */
export async function readDeletedPaths(
  served: Parameters<typeof readBatchPaths>[0],
  parent: readonly Reference[],
  { paths, etags }: Deletions,
): Promise<DeletedPath[]> {
  if (etags.length > 0 && etags.length !== paths.length) {
    const description = `must be empty, or have an item for each of the ${paths.length} paths, which may be empty; it has ${etags.length}`;
    throw invalidField("etags", description, "etags");
  }
  const read = await readBatchPaths(served, parent, unlimited, paths, "nowhere");
  return read.map((path) => ({ ...path, etag: etags[path.index] ?? "" }));
}
