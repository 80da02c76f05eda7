import { ServiceError } from "../errors/service-error.ts";
import type { ResourceRow, ResourceTable, TypedDefinition } from "../standard-methods/definition/definition.ts";
import { resourceTypePath } from "./resource-types/message.ts";
import type { ResourceTypeRow } from "./resource-types/store.ts";

/**
 * Checks that no ResourceType uses any of the rows, before they are removed.
 *
 * @param types that may use them.
 * @throws ServiceError RESOURCE_IN_USE that names one.
 */
export function requireUnused<Table extends ResourceTable, Row extends ResourceRow>(
  { label, pathOf }: TypedDefinition<Table, Row>,
  rows: readonly Row[],
  types: readonly ResourceTypeRow[],
  uses: (row: Row, type: ResourceTypeRow) => boolean,
): void {
  for (const row of rows) {
    const type = types.find((each) => uses(row, each));
    if (type !== undefined) throw inUse(`the ${label.one}`, pathOf(row), resourceTypePath(type));
  }
}

/** Returns the error for the deletion of something that is still used. */
export function inUse(what: string, path: string, usedBy: string): ServiceError {
  return new ServiceError("RESOURCE_IN_USE", `${what} ${path} is used by ${usedBy}; delete that first`, {
    metadata: { resource: path, used_by: usedBy },
  });
}
