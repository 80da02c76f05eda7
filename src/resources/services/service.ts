import type { ServiceImpl } from "@connectrpc/connect";
import { ServicesService } from "../../../gen/resources/v1alpha/service_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { requireUnused } from "../require-unused.ts";
import { findTypesOf } from "../resource-types/store.ts";
import { serviceDefinition } from "./definition.ts";

export function createServicesService(dependencies: ResourceDependencies): ServiceImpl<typeof ServicesService> {
  return createStandardService(ServicesService, dependencies, serviceDefinition, {
    scope: { kind: "fixed", org: { by: "id", value: dependencies.installation.systemOrgId } },
    creation: {
      kind: "in org",
      prepare: async (_transaction, _parent, services) => services.map(() => ({ columns: {}, joined: {} })),
    },
    revokes: "nothing",
    async beforeRemove({ db }, rows) {
      requireUnused(serviceDefinition, rows, await findTypesOf(db, rows), ({ id }, type) => type.service_id === id);
    },
  });
}
