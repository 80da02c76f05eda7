import { type Transport, createClient } from "@connectrpc/connect";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../gen/resources/v1alpha/service_pb.ts";
import type { Driver } from "./driver.ts";
import { reasonOf } from "./service-errors.ts";

interface QuantityKind {
  readonly name: string;
  readonly unit: string;
  readonly step: number;
}

/** Registers services, kinds and types. What exists is left as it is, but for the operations of types, which are updated. */
export async function registerCatalog(
  transport: Transport,
  kinds: readonly QuantityKind[],
  drivers: readonly Driver[],
): Promise<void> {
  const services = createClient(ServicesService, transport);
  const quantityKinds = createClient(QuantityKindsService, transport);
  const types = createClient(ResourceTypesService, transport);
  for (const kind of kinds) {
    const path = `quantityKinds/${kind.name}`;
    await ensure(
      () => quantityKinds.getQuantityKind({ path }),
      () => quantityKinds.createQuantityKind({ quantityKind: kind }),
    );
  }
  for (const { service, type, operations } of drivers) {
    const path = `services/${service}`;
    await ensure(
      () => services.getService({ path }),
      () => services.createService({ service: { name: service } }),
    );
    const operationTypes = Object.entries(operations).map(([verb, { quantities = [] }]) => ({ verb, quantities }));
    await types.updateResourceType({
      path: `${path}/resourceTypes/${type}`,
      resourceType: { name: type, collection: type, operations: operationTypes },
      allowMissing: true,
    });
  }
}

/** Creates something unless it exists. Everybody may read the catalog, so this needs no permission for what exists. */
async function ensure(get: () => Promise<unknown>, create: () => Promise<unknown>): Promise<void> {
  try {
    await get();
  } catch (error) {
    if (reasonOf(error) !== "RESOURCE_NOT_FOUND") throw error;
    await create();
  }
}
