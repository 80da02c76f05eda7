// What providers name in requests. They keep paths for as long as an operation takes. Meanwhile a project can be renamed or
// deleted, which changes the paths of what is in it, so a path that ends with an id is found by that id alone.
import type { Kysely } from "kysely";
import { unlimited } from "../../access/evaluation/visibility.ts";
import type { Schema } from "../../database/schema.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { RowReader } from "../../standard-methods/read/row-reader.ts";
import { type OperationRow, selectOperations } from "../operations/store.ts";
import { type InfrastructureRow, selectResources } from "../resources/store.ts";

/**
 * Finds an operation of a service. Operations of other services are none of its provider's business.
 *
 * @throws ServiceError PATH_INVALID or RESOURCE_NOT_FOUND
 */
export async function findOperation(db: Kysely<Schema>, serviceId: string, text: string): Promise<OperationRow> {
  const path = parseResourcePath(patterns.Operation, text, "operation_path", "above-id");
  const [, , last] = path;
  const row =
    last.by === "id"
      ? await selectOperations(db).where("operations.id", "=", last.value).executeTakeFirst()
      : undefined;
  if (row?.service_id !== serviceId) throw notFound("operation", formatReferences(patterns.Operation, path));
  return row;
}

/**
 * Finds a resource of a service, also by its name. Its provider works on it in whatever state its org and project are.
 *
 * @throws ServiceError PATH_INVALID or RESOURCE_NOT_FOUND
 */
export async function findResource(
  db: Kysely<Schema>,
  reader: RowReader<InfrastructureRow>,
  serviceId: string,
  text: string,
): Promise<InfrastructureRow> {
  const path = parseResourcePath(patterns.Resource, text, "resource_path", "above-id");
  const [, , last] = path;
  const row =
    last.by === "id"
      ? await selectResources(db).where("resources.id", "=", last.value).executeTakeFirst()
      : await reader.lookup(path, unlimited);
  if (row?.service_id !== serviceId) throw notFound("resource", formatReferences(patterns.Resource, path));
  return row;
}
