import type { Change, OrgTransaction } from "../../changes/write-in-org.ts";
import type { ResourceDefinition } from "../definition.ts";
import { required } from "../required.ts";
import { idOf } from "../rows/row-key.ts";

/** Adds the line of a row to the change log: what it was and what it is; null where there was or is none. */
export function recordChange(
  { record }: OrgTransaction,
  definition: ResourceDefinition,
  before: object | null,
  after: object | null,
): void {
  record(changeOf(definition, before, after));
}

export function changeOf(definition: ResourceDefinition, before: object | null, after: object | null): Change {
  const row = required(before ?? after);
  return {
    type: definition.type,
    id: idOf(definition, row),
    path: definition.pathOf(row as never),
    before: before === null ? null : loggedColumns(definition, before),
    after: after === null ? null : loggedColumns(definition, after),
  };
}

/** A row as the change log keeps it: the columns that its definition names, and no others. */
function loggedColumns({ storage: { columns } }: ResourceDefinition, row: object): object {
  return Object.fromEntries(columns.map((column) => [column, (row as Record<string, unknown>)[column]]));
}
