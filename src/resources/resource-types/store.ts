import { type InferResult, type Kysely, sql } from "kysely";
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

/** Returns a ResourceType of each of the services that has any. */
export function findTypesOf(
  db: Kysely<Schema>,
  services: readonly { readonly id: string }[],
): Promise<ResourceTypeRow[]> {
  const ids = services.map(({ id }) => id);
  return selectResourceTypes(db)
    .distinctOn("resource_types.service_id")
    .where(sql<boolean>`resource_types.service_id = any(${ids}::uuid[])`)
    .execute();
}

/** Returns the next ResourceTypes in the order of their ids. */
export function listTypesAfter(
  db: Kysely<Schema>,
  after: string | undefined,
  limit: number,
): Promise<ResourceTypeRow[]> {
  const types = selectResourceTypes(db).orderBy("resource_types.id").limit(limit);
  return (after === undefined ? types : types.where("resource_types.id", ">", after)).execute();
}

/** What a variable of an operation is an amount or a grade of. */
export type Variable = "quantity" | "quality";

/** The fields of a stored OperationType that list variables, in Protobuf's JSON form. */
const lists = {
  quantity: ["quantities", "givenQuantities"],
  quality: ["qualities", "givenQualities"],
} as const;

/** Returns the ResourceTypes with an operation that has a variable of one of the kinds. */
export async function findTypesWith(
  db: Kysely<Schema>,
  variable: Variable,
  kinds: readonly { readonly name: string }[],
): Promise<ResourceTypeRow[]> {
  // A cloud has few types.
  const types = await selectResourceTypes(db).execute();
  return types.filter((type) => kinds.some(({ name }) => usesKind(type, variable, name)));
}

export function usesKind({ operations }: ResourceTypeRow, variable: Variable, name: string): boolean {
  return operations.some((operation) =>
    lists[variable].some((list) => operation[list]?.some(({ kind }) => kind === name)),
  );
}
