import { type Resource, Resource_State } from "../../../gen/resources/v1alpha/resource_pb.ts";
import type { ReferencedId } from "../../database/schema.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import { resourceTypePath } from "../resource-types/message.ts";
import type { InfrastructureRow } from "./store.ts";

export function toResource(row: InfrastructureRow): Resource {
  return {
    $typeName: "resources.v1alpha.Resource",
    path: resourcePath(row),
    ...namedFields(row),
    ...deletionFields(row),
    typePath: resourceTypePath({ service_name: row.service_name, name: row.type_name }),
    quantities: row.quantities,
    givenQuantities: row.given_quantities,
    qualities: row.qualities,
    givenQualities: row.given_qualities,
    parameters: row.parameters,
    outputs: row.outputs,
    references: referencedPaths(row),
    state: Resource_State[row.delete_time === null ? row.state : "DELETED"],
    stateReason: row.state_reason,
    operationPath: row.operation_id === null ? "" : operationPath({ ...row, id: row.operation_id }),
    operationPaths: operationIdsOf(row).map((id) => operationPath({ ...row, id })),
  };
}

/**
 * Returns the paths of what a row refers to, by the name of the reference; empty for a reference that is removed. They contain ids:
 * to read the names for each row of a list would cost more than the rest of it.
 */
export function referencedPaths(
  row: Parameters<typeof orgPathName>[0] & { readonly reference_ids: Readonly<Record<string, ReferencedId | null>> },
): Record<string, string> {
  const org = orgPathName(row);
  return Object.fromEntries(
    Object.entries(row.reference_ids).map(([name, target]) => [
      name,
      target === null ? "" : formatPath(patterns.Resource, org, `@${target.project_id}`, `@${target.id}`),
    ]),
  );
}

/** The columns of a row in a project that the path of the project needs. */
type InProject = Parameters<typeof orgPathName>[0] & {
  readonly project_id: string;
  readonly project_name: string;
  readonly project_delete_time: Date | null;
};

export function placeNames(row: InProject): [org: string, project: string] {
  const project = { id: row.project_id, name: row.project_name, delete_time: row.project_delete_time };
  return [orgPathName(row), pathName(project)];
}

export function resourcePath(row: InProject & Parameters<typeof pathName>[0]): string {
  return formatPath(patterns.Resource, ...placeNames(row), pathName(row));
}

/** Returns the operations that are changing a resource, in the order in which they started. */
export function operationIdsOf(row: Pick<InfrastructureRow, "operation_id" | "concurrent_ids">): readonly string[] {
  if (row.concurrent_ids.length > 0) return row.concurrent_ids;
  return row.operation_id === null ? [] : [row.operation_id];
}

export function operationPath(row: InProject & { readonly id: string }): string {
  return formatPath(patterns.Operation, ...placeNames(row), `@${row.id}`);
}
