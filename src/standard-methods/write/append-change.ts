import type { Change } from "../../changes/change.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { ResourceDefinition } from "../definition/definition.ts";
import { required } from "../../errors/required.ts";
import { idOf } from "../rows/row-key.ts";

/**
 * Records a row in the change log, before and after a write: `before` is null for a new row, `after` for a removed one.
 *
 * @param endTime when the resource ended, if it did by itself.
 */
export function recordChange(
  { record }: OrgTransaction,
  definition: ResourceDefinition,
  before: object | null,
  after: object | null,
  endTime: Date | null = null,
): void {
  record({ ...changeOf(definition, before, after), endTime });
}

export function changeOf(definition: ResourceDefinition, before: object | null, after: object | null): Change {
  const row = required(before ?? after);
  return {
    type: definition.type,
    id: idOf(definition, row),
    path: definition.pathOf(row as never),
    containerId: containerOf(definition, row),
    before: before === null ? null : loggedColumns(definition, before),
    after: after === null ? null : loggedColumns(definition, after),
  };
}

/** Returns the id of the resource directly below the org in which a row is, or its own; of what is in no org, that of the one at the top. */
function containerOf(definition: ResourceDefinition, row: object): string {
  for (const { parents } of definition.places) {
    const container = parents.find(({ type }) => type !== "Org");
    const id: unknown = container && (row as Record<string, unknown>)[container.column];
    if (typeof id === "string") return id;
  }
  return idOf(definition, row);
}

/** Returns the columns of a row that the change log keeps, those that its definition names, as they are in JSON. */
function loggedColumns({ storage: { columns } }: ResourceDefinition, row: object): object {
  const logged: Record<string, unknown> = {};
  for (const column of columns) {
    const value = (row as Readonly<Record<string, unknown>>)[column];
    // Here and not in each JSON.stringify, which takes four times as long with dates.
    logged[column] = value instanceof Date ? value.toJSON() : value;
  }
  return logged;
}
