import type { ServiceImpl } from "@connectrpc/connect";
import { type ResourceType, ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { serviceDefinition } from "../services/definition.ts";
import { checkOperations } from "./check-operations.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { checkParametersSchema } from "../parameters.ts";
import { inUse } from "../require-unused.ts";
import { resourcePath } from "../resources/message.ts";
import { type InfrastructureRow, findResourceOf } from "../resources/store.ts";
import { resourceTypePath, toStored } from "./message.ts";
import { requireKept } from "./require-kept.ts";
import type { ResourceTypeRow } from "./store.ts";

const schemaField = "resource_type.parameters_schema";

export function createResourceTypesService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof ResourceTypesService> {
  return createStandardService(ResourceTypesService, dependencies, resourceTypeDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      async prepare({ db }, parents, types, atItem) {
        const parent = required(parents[0]);
        const service = await findRow(db, serviceDefinition, parent);
        if (service === undefined) throw notFound("service", formatReferences(patterns.Service, parent));
        return mapItems(types, atItem, async ({ collection, ...message }) => {
          await checkOperations(db, message.operations);
          checkParametersSchema(message.parametersSchema, schemaField);
          const columns = { service_id: service.id, collection, ...definedColumns(message) };
          return { columns, joined: { service_name: service.name } };
        });
      },
    },
    async change({ db }, row, message) {
      const { operations, parametersSchema } = message;
      await checkOperations(db, operations);
      checkParametersSchema(parametersSchema, schemaField);
      const resource = await lockAndFindResource(db, row);
      if (resource !== undefined) requireKept(row.operations, operations, resourcePath(resource));
      return definedColumns(message);
    },
    revokes: "nothing",
    async beforeRemove({ db }, rows) {
      for (const row of rows) {
        const resource = await lockAndFindResource(db, row);
        if (resource !== undefined) throw inUse("the resource type", resourceTypePath(row), resourcePath(resource));
      }
    },
    mapError: (error, { collection }) =>
      violatedConstraint(error) === "resource_types_collection_key" ? collectionTaken(collection) : undefined,
  });
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
