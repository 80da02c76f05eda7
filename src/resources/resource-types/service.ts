import type { ServiceImpl } from "@connectrpc/connect";
import { ResourceTypesService } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { serviceDefinition } from "../services/definition.ts";
import { checkOperations } from "./check-operations.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { toStored } from "./message.ts";

export function createResourceTypesService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof ResourceTypesService> {
  return createStandardService(ResourceTypesService, dependencies, resourceTypeDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      async prepare({ db }, parent, types, atItem) {
        const service = await findRow(db, serviceDefinition, parent);
        if (service === undefined) throw notFound("service", formatReferences(patterns.Service, parent));
        return mapItems(types, atItem, async ({ collection, operations }) => {
          await checkOperations(db, operations);
          const columns = { service_id: service.id, collection, operations: toStored(operations) };
          return { columns, joined: { service_name: service.name } };
        });
      },
    },
    async change({ db }, _row, { operations }) {
      await checkOperations(db, operations);
      return { operations: toStored(operations) };
    },
    revokes: "nothing",
    mapError: (error, { collection }) =>
      violatedConstraint(error) === "resource_types_collection_key" ? collectionTaken(collection) : undefined,
  });
}

function collectionTaken(collection: string): ServiceError {
  const message = `there is already a resource type with the collection ${JSON.stringify(collection)} in the service`;
  return new ServiceError("RESOURCE_EXISTS", message, { metadata: { collection } });
}
