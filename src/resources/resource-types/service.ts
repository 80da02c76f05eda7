import { isDeepStrictEqual } from "node:util";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type ResourceType,
  type OperationType,
  ResourceTypesService,
} from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { Transaction } from "kysely";
import type { Schema, StoredOperationType } from "../../database/schema.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { isInGuardedCustomer } from "../../database/support-required.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { findRow, readByKeys } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { addCountedKinds } from "../services/counted-kinds.ts";
import { serviceDefinition } from "../services/definition.ts";
import { withCounted, countedKinds } from "./counted.ts";
import { checkOperations, readKindsOf } from "./check-operations.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { type ParametersWork, checkParametersSchema, createParametersWork } from "../parameters.ts";
import { resourcePath } from "../resources/message.ts";
import { type InfrastructureRow, findResourceOf } from "../resources/store.ts";
import { toStored } from "./message.ts";
import type { ResourceTypeRow } from "./store.ts";

export function createResourceTypesService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof ResourceTypesService> {
  return createStandardService(ResourceTypesService, dependencies, resourceTypeDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    startCheck() {
      const work = createParametersWork();
      return (type) => checkSchema(type, work);
    },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, types, atItem, checked) {
        const { db } = transaction;
        const parent = required(parents[0]);
        const found = await findRow(db, serviceDefinition, parent);
        if (found === undefined) throw notFound("service", formatReferences(patterns.Service, parent));
        const kinds = await readKindsOf(
          db,
          types.flatMap(({ operations }) => operations),
        );
        let service = found;
        return mapItems(types, atItem, async (message, index) => {
          checkOperations(kinds, message.operations);
          required(checked[index])();
          const { collection } = message;
          const operations = withCounted(message.operations);
          service = await addCountedKinds(transaction, dependencies.authorHolds, service, operations);
          const columns = { service_id: service.id, collection, ...definedColumns({ ...message, operations }) };
          return { columns, joined: { service_name: service.name } };
        });
      },
    },
    async change(transaction, row, message) {
      const { db } = transaction;
      const { parametersSchema } = message;
      const operations = withCounted(message.operations, row.operations);
      const known = row.operations.map(({ verb }) => verb);
      checkOperations(await readKindsOf(db, operations), operations, known);
      // One that was stored when other patterns were accepted can stay.
      if (!isDeepStrictEqual(parametersSchema ?? null, row.parameters_schema)) checkSchema(message);
      const resource = await lockAndFindResource(db, row);
      if (resource !== undefined) {
        const isHidden = await isInGuardedCustomer(db, resource.org_id);
        requireKept(row.operations, operations, isHidden ? undefined : resourcePath(resource));
      }
      const [service] = await readByKeys(db, serviceDefinition, [{ id: row.service_id }]);
      await addCountedKinds(transaction, dependencies.authorHolds, required(service), operations, row.operations);
      return definedColumns({ ...message, operations });
    },
    revokes: "nothing",
    mapError: (error, { collection }) =>
      violatedConstraint(error) === "resource_types_collection_key" ? collectionTaken(collection) : undefined,
  });
}

function checkSchema({ parametersSchema }: ResourceType, work?: ParametersWork): void {
  checkParametersSchema(parametersSchema, "resource_type.parameters_schema", work);
}

function definedColumns({
  operations,
  parametersSchema,
  routingParameter,
}: Pick<ResourceType, "operations" | "parametersSchema" | "routingParameter">) {
  return {
    routing_parameter: routingParameter,
    operations: toStored(operations),
    parameters_schema: parametersSchema === undefined ? null : JSON.stringify(parametersSchema),
  };
}

/**
 * Returns a resource of a type; undefined if there is none. Locks the type, so that none can be created until the transaction
 * ends.
 */
async function lockAndFindResource(
  db: Transaction<Schema>,
  { id }: ResourceTypeRow,
): Promise<InfrastructureRow | undefined> {
  await db.selectFrom("resource_types").select("id").where("id", "=", id).forUpdate().execute();
  return findResourceOf(db, id);
}

function collectionTaken(collection: string): ServiceError {
  const message = `there is already a resource type with the collection ${JSON.stringify(collection)} in the service`;
  return new ServiceError("RESOURCE_EXISTS", message, { metadata: { collection } });
}

/**
 * Checks that an update keeps each operation, and counts the same kinds against quotas: resources of the type rely on it.
 *
 * @param after each Quantity says whether it is counted.
 * @param resource the path of a resource of the type; undefined if its customer does not show it to the platform.
 * @throws ServiceError RESOURCE_IN_USE
 */
function requireKept(before: readonly StoredOperationType[], after: readonly OperationType[], resource?: string): void {
  const verbs = new Set(after.map(({ verb }) => verb));
  const lost = before.find(({ verb }) => !verbs.has(verb));
  if (lost !== undefined) throw relied(`the operation ${lost.verb} cannot be removed`, resource);
  const [countedBefore, countedAfter] = [countedKinds(before), countedKinds(after)];
  const changed = [...countedBefore, ...countedAfter].filter(
    (kind) => !(countedBefore.has(kind) && countedAfter.has(kind)),
  );
  if (changed.length > 0) {
    throw relied(`whether ${changed.join(", ")} counts against quotas cannot be changed`, resource);
  }
}

function relied(problem: string, resource?: string): ServiceError {
  const example =
    resource === undefined ? "in an org whose customer does not show them to the platform" : `such as ${resource}`;
  return new ServiceError("RESOURCE_IN_USE", `${problem} while there are resources of the type, ${example}`, {
    ...(resource !== undefined && { metadata: { used_by: resource } }),
  });
}
