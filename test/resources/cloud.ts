// A service with a type of resources, and a project in which resources are created.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { type Operation, OperationsService } from "../../gen/resources/v1alpha/operation_pb.ts";
import { type Claim, ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { QualityKindsService } from "../../gen/resources/v1alpha/quality_kind_pb.ts";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { type ResourceSchema, ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../gen/resources/v1alpha/service_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type Protocol, createTransport } from "../support/transports.ts";

/** The clients of the area `resources`. */
export interface ResourcesApi {
  readonly services: Client<typeof ServicesService>;
  readonly quantityKinds: Client<typeof QuantityKindsService>;
  readonly qualityKinds: Client<typeof QualityKindsService>;
  readonly types: Client<typeof ResourceTypesService>;
  readonly resources: Client<typeof ResourcesService>;
  readonly operations: Client<typeof OperationsService>;
  readonly provider: Client<typeof ProviderService>;
}

export function createResourcesApi(protocol: Protocol, url: string, apiKey: string): ResourcesApi {
  const transport = createTransport(protocol, url, apiKey);
  return {
    services: createClient(ServicesService, transport),
    quantityKinds: createClient(QuantityKindsService, transport),
    qualityKinds: createClient(QualityKindsService, transport),
    types: createClient(ResourceTypesService, transport),
    resources: createClient(ResourcesService, transport),
    operations: createClient(OperationsService, transport),
    provider: createClient(ProviderService, transport),
  };
}

export interface Cloud extends ResourcesApi {
  readonly api: Api;
  /** `compute3`: the name of the service, unique in the test process. */
  readonly service: string;
  readonly servicePath: string;
  /** The path of its type `instances`, with the operations create, resize, start and delete. */
  readonly typePath: string;
  /** The names of its QuantityKinds, with steps of 0.1 and 1. */
  readonly cores: string;
  readonly ram: string;
  /** The name of its QualityKind, with the grades 1 and 2. */
  readonly certificate: string;
  /** The org, and the project in it in which resources are created. */
  readonly org: string;
  readonly project: string;
  /** Starts to create a resource with the given cores. */
  create(name: string, cores?: number, fields?: MessageInitShape<typeof ResourceSchema>): Promise<Operation>;
  /** Claims the operation that has waited longest. */
  claim(seconds?: number): Promise<Claim>;
  /** Claims one operation and completes it. */
  complete(given?: Readonly<Record<string, number>>): Promise<Operation>;
  /** The path of a resource in the project. */
  pathOf(name: string): string;
  /** What identifies a claim in requests. */
  present(claim: Claim): { servicePath: string; operationPath: string; claimToken: string };
}

/** Creates a cloud on a server, as the operator. */
export async function openCloud(protocol: Protocol, url: string, operatorKey: string): Promise<Cloud> {
  const clients = createResourcesApi(protocol, url, operatorKey);
  const api = createApi(protocol, url, operatorKey);
  const [service, cores, ram, certificate] = ["compute", "cores", "ram", "iso"].map(uniqueName) as [
    string,
    string,
    string,
    string,
  ];
  const { path: servicePath } = await clients.services.createService({ service: { name: service } });
  await clients.quantityKinds.createQuantityKind({ quantityKind: { name: cores, unit: "core", step: 0.1 } });
  await clients.quantityKinds.createQuantityKind({ quantityKind: { name: ram, unit: "byte" } });
  await clients.qualityKinds.createQualityKind({ qualityKind: { name: certificate, highestGrade: 2 } });
  const quantities = [
    { kind: cores, required: true, minimum: 0.5, maximum: 64, counted: true },
    { kind: ram, step: 1024, defaultAmount: 1024, counted: false },
  ];
  const { path: typePath } = await clients.types.createResourceType({
    parentPath: servicePath,
    resourceType: {
      name: "instances",
      collection: "instances",
      operations: [
        { verb: "create", quantities, qualities: [{ kind: certificate }] },
        { verb: "resize", quantities: [{ kind: cores, minimum: 0.5, maximum: 64, counted: true }] },
        { verb: "start" },
        { verb: "delete" },
      ],
    },
  });
  const org = (await api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  const project = (await api.projects.createProject({ parentPath: org, project: { name: "web" } })).path;

  const claim = async (seconds = 60): Promise<Claim> => {
    const claimDuration = { seconds: BigInt(seconds) };
    const { claims } = await clients.provider.claimOperations({ servicePath, claimDuration });
    return required(claims[0]);
  };
  const present = ({ operation, claimToken }: Claim) => ({
    servicePath,
    operationPath: required(operation).path,
    claimToken,
  });
  return {
    ...clients,
    api,
    service,
    servicePath,
    typePath,
    cores,
    ram,
    certificate,
    org,
    project,
    create: (name, amount = 2, fields = {}) =>
      clients.resources.createResource({
        parentPath: project,
        resource: { name, typePath, quantities: { [cores]: amount }, ...fields },
      }),
    claim,
    async complete(given = {}) {
      return clients.provider.completeOperation({ ...present(await claim()), givenQuantities: given });
    },
    pathOf: (name) => `${project}/resources/${name}`,
    present,
  };
}

/** Returns the clients of a new member who holds permissions, or the role with a path, on the resources with these paths. */
export async function joinWith(
  { api, org }: Pick<Cloud, "api" | "org">,
  protocol: Protocol,
  url: string,
  held: Readonly<Record<string, readonly string[] | string>>,
): Promise<ResourcesApi> {
  const member = { name: uniqueName("member") };
  const { path: subjectPath } = await api.members.createMember({ parentPath: org, member });
  for (const [parentPath, granted] of Object.entries(held)) {
    const name = uniqueName("role");
    const role = typeof granted === "string" ? undefined : { name, permissions: [...granted] };
    const rolePath = role === undefined ? granted : (await api.roles.createRole({ parentPath: org, role })).path;
    const roleBinding = { name, rolePath: String(rolePath), subjectPath };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
  return createResourcesApi(protocol, url, required(secret));
}
