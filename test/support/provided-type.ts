// A type of resources whose operations need nothing, and its provider.
import { createClient } from "@connectrpc/connect";
import { OperationsService } from "../../gen/resources/v1alpha/operation_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../gen/resources/v1alpha/service_pb.ts";
import { type Api, uniqueName } from "./api.ts";

/** A service with one type of resources. */
export interface ProvidedType {
  readonly servicePath: string;
  readonly typePath: string;
}

export async function createProvidedType({ transport }: Api): Promise<ProvidedType> {
  const service = { name: uniqueName("provided") };
  const { path: servicePath } = await createClient(ServicesService, transport).createService({ service });
  const resourceType = { name: "things", collection: "things", operations: [{ verb: "create" }, { verb: "delete" }] };
  const types = createClient(ResourceTypesService, transport);
  const { path: typePath } = await types.createResourceType({ parentPath: servicePath, resourceType });
  return { servicePath, typePath };
}

/** Carries out all operations of a service that wait, and returns when one of them has ended. */
export async function carryOut({ transport }: Api, servicePath: string, path: string): Promise<void> {
  const provider = createClient(ProviderService, transport);
  const { claims } = await provider.claimOperations({ servicePath, maxOperations: 100 });
  for (const { operation, claimToken } of claims) {
    await provider.completeOperation({ servicePath, operationPath: operation?.path ?? "", claimToken });
  }
  await createClient(OperationsService, transport).waitOperation({ path });
}
