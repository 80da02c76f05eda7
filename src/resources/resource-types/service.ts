import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type ResourceType, ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { Transaction } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import { type AtItem, alone, atItemOf, mapItems } from "../../standard-methods/batch/batch-item.ts";
import { findRow, readByKeys } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { renewTurnOf } from "../../turns/renew-turn.ts";
import { addCountedKinds } from "../services/counted-kinds.ts";
import { serviceDefinition } from "../services/definition.ts";
import { withCounted } from "./counted.ts";
import { checkOperations, readKindsOf } from "./check-operations.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { type ParametersWork, checkParametersSchema, createParametersWork } from "../parameters.ts";
import { inUse } from "../require-unused.ts";
import { resourcePath } from "../resources/message.ts";
import { type InfrastructureRow, findResourceOf } from "../resources/store.ts";
import { resourceTypePath, toStored } from "./message.ts";
import { requireKept } from "./require-kept.ts";
import type { ResourceTypeRow } from "./store.ts";

export function createResourceTypesService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof ResourceTypesService> {
  const checkSchema = createCheckSchema();
  const standard = createStandardHandlers(ResourceTypesService, dependencies, resourceTypeDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, types, atItem) {
        const { db } = transaction;
        const parent = required(parents[0]);
        const found = await findRow(db, serviceDefinition, parent);
        if (found === undefined) throw notFound("service", formatReferences(patterns.Service, parent));
        const kinds = await readKindsOf(
          db,
          types.flatMap(({ operations }) => operations),
        );
        let service = found;
        return mapItems(types, atItem, async ({ collection, ...message }) => {
          checkOperations(kinds, message.operations);
          checkSchema(message.parametersSchema);
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
      if (!isDeepStrictEqual(parametersSchema ?? null, row.parameters_schema)) checkSchema(parametersSchema);
      const resource = await lockAndFindResource(db, row);
      if (resource !== undefined) requireKept(row.operations, operations, resourcePath(resource));
      const [service] = await readByKeys(db, serviceDefinition, [{ id: row.service_id }]);
      await addCountedKinds(transaction, dependencies.authorHolds, required(service), operations, row.operations);
      return definedColumns({ ...message, operations });
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

  /** Checks the schemas of new types before the lock, and lets others run between two of them. */
  const checkAll = async (types: readonly ResourceType[], atItem: AtItem, context: HandlerContext): Promise<void> => {
    const renew = renewTurnOf(dependencies.turns, callerOf(context), context.signal, "large");
    const work = createParametersWork();
    await mapItems(types, atItem, async ({ parametersSchema }) => {
      const turn = renew();
      if (turn !== undefined) await turn;
      checkSchema(parametersSchema, work);
    });
  };

  return completeService(ResourceTypesService, {
    ...standard,

    async createResourceType(request, context) {
      await checkAll([required(request.resourceType)], alone, context);
      return required(standard.createResourceType)(request, context);
    },

    async batchCreateResourceTypes(request, context) {
      const types = request.requests.map(({ resourceType }) => required(resourceType));
      await checkAll(types, atItemOf("requests"), context);
      return required(standard.batchCreateResourceTypes)(request, context);
    },
  });
}

/** Creates the check of schemas. One that was checked before the lock is not checked again under it. */
function createCheckSchema(): (schema: JsonObject | undefined, work?: ParametersWork) => void {
  const checked = new WeakSet<JsonObject>();
  return (schema, work) => {
    if (schema === undefined || checked.has(schema)) return;
    checkParametersSchema(schema, "resource_type.parameters_schema", work);
    checked.add(schema);
  };
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
