// What the organisation of examples/acme.yaml can use: a service with two types, and the provider that runs their resources.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import type { ResourceSchema } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type ResourcesApi, createResourcesApi } from "../resources/cloud.ts";
import type { ConsolePlace } from "./console-place.ts";

export const web = "/orgs/acme/projects/web-shop";
const servicePath = "/services/compute";
export const instances = `${servicePath}/resourceTypes/instances`;
export const volumes = `${servicePath}/resourceTypes/volumes`;

const parametersSchema = {
  type: "object",
  additionalProperties: false,
  required: ["image"],
  properties: {
    image: { type: "string", title: "Image", description: "Such as debian-12.", pattern: "^[a-z0-9-]+$" },
    zone: { enum: ["a", "b"], description: "Where it runs." },
    protected: { type: "boolean" },
    boot: { $ref: "#/$defs/boot" },
    disks: { type: "array", items: { type: "object", properties: { size: { type: "integer" } } } },
  },
  $defs: { boot: { type: "object", title: "Boot", properties: { delay: { type: "integer", default: 5 } } } },
};

export interface CloudOfAcme extends ResourcesApi {
  /** Starts to create an instance in the web shop. */
  readonly create: (name: string, fields?: MessageInitShape<typeof ResourceSchema>) => Promise<Operation>;
  /** Claims the operation that has waited longest. */
  readonly claim: () => Promise<Claim>;
  /** What identifies a claim in requests. */
  readonly present: (claim: Claim) => { servicePath: string; operationPath: string; claimToken: string };
  /** Claims an operation, and completes it. */
  readonly complete: (given?: Readonly<Record<string, number>>) => Promise<Operation>;
}

export async function openCloudOfAcme({ url, operatorKey }: ConsolePlace): Promise<CloudOfAcme> {
  const api = createResourcesApi("gRPC", url, operatorKey);
  await api.services.createService({ service: { name: "compute", displayName: "Compute" } });
  const kinds = [
    { name: "cpu_cores", displayName: "CPU cores", unit: "core", step: 0.5 },
    { name: "ram", displayName: "Memory", unit: "byte" },
  ];
  for (const quantityKind of kinds) await api.quantityKinds.createQuantityKind({ quantityKind });
  await api.qualityKinds.createQualityKind({ qualityKind: { name: "iso_27001", displayName: "ISO 27001" } });
  await api.types.createResourceType({
    parentPath: servicePath,
    resourceType: {
      name: "volumes",
      collection: "volumes",
      displayName: "Volumes",
      operations: [{ verb: "create" }, { verb: "delete" }, { verb: "undelete" }, { verb: "purge" }],
    },
  });
  const quantities = [
    { kind: "cpu_cores", required: true, maximum: 64 },
    { kind: "ram", defaultAmount: 2 ** 30 },
  ];
  await api.types.createResourceType({
    parentPath: servicePath,
    resourceType: {
      name: "instances",
      collection: "instances",
      displayName: "Instances",
      parametersSchema,
      operations: [
        {
          verb: "create",
          quantities,
          qualities: [{ kind: "iso_27001" }],
          references: [{ name: "volume", typePath: volumes }],
        },
        { verb: "delete" },
        { verb: "resize", description: "Gives it more or less.", quantities },
        { verb: "attach", references: [{ name: "volume", typePath: volumes }], concurrent: true },
        { verb: "snapshot", concurrent: true },
      ],
    },
  });
  const claim = async (): Promise<Claim> => {
    const { claims } = await api.provider.claimOperations({ servicePath, wait: { seconds: 20n } });
    return required(claims[0]);
  };
  const present = ({ operation, claimToken }: Claim) => ({
    servicePath,
    operationPath: required(operation).path,
    claimToken,
  });
  return {
    ...api,
    claim,
    present,
    create: (name, fields = {}) =>
      api.resources.createResource({
        parentPath: web,
        resource: {
          name,
          typePath: instances,
          quantities: { cpu_cores: 2 },
          parameters: { image: "debian-12" },
          ...fields,
        },
      }),
    complete: async (given = {}) =>
      api.provider.completeOperation({ ...present(await claim()), givenQuantities: given }),
  };
}
