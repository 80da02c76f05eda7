import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type ResourceTypeRow = InferResult<ReturnType<typeof selectResourceTypes>>[number];

export const resourceTypeColumns = [
  "org_id",
  "service_id",
  "collection",
  "operations",
  "parameters_schema",
  "routing_parameter",
  ...namedColumns,
] as const;

/** Selects all ResourceTypes, with the columns that their paths need. */
export function selectResourceTypes(db: Kysely<Schema>) {
  return db
    .selectFrom("services")
    .innerJoin("resource_types", "resource_types.service_id", "services.id")
    .select(columnsOf("resource_types", resourceTypeColumns))
    .select("services.name as service_name");
}

export function listTypesAfter(
  db: Kysely<Schema>,
  after: string | undefined,
  limit: number,
): Promise<ResourceTypeRow[]> {
  const types = selectResourceTypes(db).orderBy("resource_types.id").limit(limit);
  return (after === undefined ? types : types.where("resource_types.id", ">", after)).execute();
}

/** What a variable of an operation is an amount or a grade of. */
type Variable = "quantity" | "quality";

/** The fields of a stored OperationType that list variables, in Protobuf's JSON form. */
const lists = {
  quantity: ["quantities", "givenQuantities"],
  quality: ["qualities", "givenQualities"],
} as const;

export function usesKind({ operations }: ResourceTypeRow, variable: Variable, name: string): boolean {
  return operations.some((operation) =>
    lists[variable].some((list) => operation[list]?.some(({ kind }) => kind === name)),
  );
}
