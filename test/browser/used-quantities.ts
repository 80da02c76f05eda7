// Quantities that the web shop of examples/acme.yaml uses, against limits of its project, org and customer.
import { createClient } from "@connectrpc/connect";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { required } from "../../src/errors/required.ts";
import type { Api } from "../support/api.ts";

const gib = 1024 ** 3;
const acme = "/orgs/acme";
const webShop = `${acme}/projects/web-shop`;

/**
 * Creates the kinds `cpu_cores` and `memory`, and a machine with 4 cores and 16 GiB.
 *
 * @param hasCores whether there are cores already.
 * @returns the path of the customer.
 */
export async function useQuantities(api: Api, { hasCores = false } = {}): Promise<string> {
  const { customerPath } = await api.orgs.getOrg({ path: acme });
  const cores = { name: "cpu_cores", displayName: "CPU cores", unit: "core" };
  if (!hasCores) await api.quantityKinds.createQuantityKind({ quantityKind: cores });
  await api.quantityKinds.createQuantityKind({
    quantityKind: { name: "memory", displayName: "Memory", unit: "byte" },
  });
  const quotas = createClient(QuotasService, api.transport);
  const limits: readonly (readonly [string, Record<string, number>])[] = [
    [customerPath, { cpu_cores: 100 }],
    [acme, { cpu_cores: 40, memory: 64 * gib }],
    [webShop, { cpu_cores: 10 }],
  ];
  for (const [parentPath, each] of limits) {
    await quotas.updateQuota({ parentPath, quota: { limits: each }, updateMask: { paths: ["limits"] } });
  }
  const { path: servicePath } = await api.services.createService({ service: { name: "metal" } });
  const quantities = ["cpu_cores", "memory"].map((kind) => ({ kind, counted: true }));
  const { path: typePath } = await api.resourceTypes.createResourceType({
    parentPath: servicePath,
    resourceType: {
      name: "machines",
      collection: "machines",
      operations: [{ verb: "create", quantities }, { verb: "delete" }],
    },
  });
  const resource = { name: "machine", typePath, quantities: { cpu_cores: 4, memory: 16 * gib } };
  await createClient(ResourcesService, api.transport).createResource({ parentPath: webShop, resource });
  const provider = createClient(ProviderService, api.transport);
  const { claims } = await provider.claimOperations({ servicePath });
  const { operation, claimToken } = required(claims[0]);
  await provider.completeOperation({ servicePath, operationPath: required(operation).path, claimToken });
  return customerPath;
}
