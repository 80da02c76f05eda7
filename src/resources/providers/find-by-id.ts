// What providers name in requests. They keep paths for as long as an operation takes. Meanwhile a project can be renamed or
// deleted, which changes the paths of what is in it, so a path that ends with an id is found by that id alone.
import { unlimited } from "../../access/evaluation/visibility.ts";
import type { Database } from "../../database/database.ts";
import { isInGuardedCustomer } from "../../database/support-required.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { RowReader } from "../../standard-methods/read/row-reader.ts";
import type { InfrastructureRow } from "../resources/store.ts";

/** The key of an operation or a resource. */
type Key = Pick<InfrastructureRow, "org_id" | "id">;

/** The service of a provider, and whether it sees what is in customers that require members of the platform to be approved. */
export interface ProvidedService {
  readonly id: string;
  readonly withGuarded: boolean;
}

/**
 * Finds an operation of a service. Operations of other services are none of its provider's business.
 *
 * @throws ServiceError PATH_INVALID or RESOURCE_NOT_FOUND
 */
export async function findOperation(database: Database, serviceId: string, text: string): Promise<Key> {
  const path = parseResourcePath(patterns.Operation, text, "operation_path", "above-id");
  const [, , last] = path;
  const [found] =
    last.by === "id" ? await database.readPrepared<Key>("find_operation", operationById, [last.value, serviceId]) : [];
  if (found === undefined) throw notFound("operation", formatReferences(patterns.Operation, path));
  return found;
}

const operationById = "select org_id, id from operations where id = $1 and service_id = $2";

/**
 * Finds a resource of a service, also by its name. Its provider works on it in whatever state its org and project are.
 *
 * @throws ServiceError PATH_INVALID or RESOURCE_NOT_FOUND
 */
export async function findResource(
  database: Database,
  reader: RowReader<InfrastructureRow>,
  service: ProvidedService,
  text: string,
): Promise<Key> {
  const path = parseResourcePath(patterns.Resource, text, "resource_path", "above-id");
  const [, , last] = path;
  const found =
    last.by === "id"
      ? (await database.readPrepared<Key>("find_resource", resourceById, [last.value, service.id]))[0]
      : await reader.lookup(path, unlimited).then((row) => (row?.service_id === service.id ? row : undefined));
  const isHidden =
    found !== undefined && !service.withGuarded && (await isInGuardedCustomer(database.reads, found.org_id));
  if (found === undefined || isHidden) throw notFound("resource", formatReferences(patterns.Resource, path));
  return found;
}

const resourceById = `
  select resources.org_id, resources.id from resources
  join resource_types on resource_types.id = resources.type_id and resource_types.service_id = $2
  where resources.id = $1`;
