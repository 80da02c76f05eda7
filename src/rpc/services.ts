import type { DescFile, DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { AccessEventsService } from "../../gen/iam/v1alpha/access_event_pb.ts";
import { ChangesService } from "../../gen/iam/v1alpha/change_pb.ts";
import { FindingsService } from "../../gen/iam/v1alpha/finding_pb.ts";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { SearchService } from "../../gen/iam/v1alpha/search_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { UsageService } from "../../gen/iam/v1alpha/usage_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { file_iam_v1alpha_error_reason } from "../../gen/iam/v1alpha/error_reason_pb.ts";
import { file_google_rpc_status } from "../../gen/google/rpc/status_pb.ts";
import { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import { createAccessEventsService } from "../events/access-events/service.ts";
import type { ChangesDependencies } from "../events/changes/dependencies.ts";
import { createChangesService } from "../events/changes/service.ts";
import type { AccessDependencies } from "../iam/access-checks/dependencies.ts";
import { createAccessService } from "../iam/access-checks/service.ts";
import { createFindingsService } from "../iam/findings/service.ts";
import { createMeService } from "../iam/me/service.ts";
import { createQuotasService } from "../iam/quotas/service.ts";
import type { TokenFunctions } from "../iam/tokens/functions.ts";
import type { CountRefresh } from "../iam/tokens/refresh-token.ts";
import { createTokensService } from "../iam/tokens/service.ts";
import { createUsageService } from "../iam/usage/service.ts";
import { clientAddressKey } from "./call-origin.ts";
import { type ResourceServiceDependencies, registeredResources } from "../resource-registry.ts";
import { createProviderService } from "../resources/providers/service.ts";

/** All services of the API. */
export const services: readonly DescService[] = [
  ...registeredResources.map(({ definitions: [{ service }] }) => service),
  QuotasService,
  UsageService,
  AccessService,
  TokensService,
  MeService,
  ChangesService,
  AccessEventsService,
  FindingsService,
  SearchService,
  OrgFilesService,
  ProviderService,
];

/** The packages of the services, each of which is an area and its version: `iam.v1alpha`. */
export const packages: readonly string[] = [...new Set(services.map(({ file }) => file.proto.package))];

/** Services that are defined by standards. They are served over REST only, as the standards specify. */
export const standardServices: readonly DescService[] = [AuthorizationApiService, ScimService];

/** What the OpenAPI document has. SCIM describes itself, by its schemas, and names its methods as others are. */
export const describedServices: readonly DescService[] = [...services, AuthorizationApiService];

/** What the paths of the areas begin with over REST: `/iam/v1alpha/`. */
export const restPrefixes: readonly string[] = packages.map((name) => `/${name.replace(".", "/")}/`);

/** What those of the services of standards begin with. */
export const standardPrefixes = { authzen: "/access/v1/", scim: "/scim/v2/" } as const;

/** What the paths of all calls begin with over REST. */
export const callPrefixes: readonly string[] = [...restPrefixes, ...Object.values(standardPrefixes)];

/** What the details of errors are made of. The files of the services do not import it. */
export const errorFiles: readonly DescFile[] = [
  file_google_rpc_error_details,
  file_google_rpc_status,
  file_iam_v1alpha_error_reason,
];

/** The files of the contract, without their imports. */
export const contractFiles: readonly DescFile[] = [
  ...[...services, ...standardServices].map(({ file }) => file),
  ...errorFiles,
];

/** The dependencies of all handlers. */
export type ServiceDependencies = ResourceServiceDependencies &
  AccessDependencies &
  ChangesDependencies & { readonly tokenFunctions: TokenFunctions; readonly countRefresh: CountRefresh };

/** Services over the methods of the others. */
export interface Facades {
  readonly search: ServiceImpl<typeof SearchService>;
  readonly orgFiles: ServiceImpl<typeof OrgFilesService>;
}

/** Registers the handlers of all services, which REST and RPC share. */
export function createServices(
  dependencies: ServiceDependencies,
  { search, orgFiles }: Facades,
): (router: ConnectRouter) => void {
  const made = registeredResources.map(({ definitions: [{ service }], createService }) => ({
    service,
    handlers: createService(dependencies),
  }));
  const quotas = createQuotasService(dependencies);
  const usage = createUsageService(dependencies);
  const access = createAccessService(dependencies);
  const tokens = createTokensService(dependencies.tokenFunctions, dependencies.countRefresh, ({ values }) =>
    values.get(clientAddressKey),
  );
  const me = createMeService(dependencies);
  const changes = createChangesService(dependencies);
  const accessEvents = createAccessEventsService(dependencies);
  const findings = createFindingsService(dependencies);
  const provider = createProviderService(dependencies);
  return (router) => {
    for (const { service, handlers } of made) router.service(service, handlers);
    router.service(QuotasService, quotas);
    router.service(UsageService, usage);
    router.service(AccessService, access);
    router.service(TokensService, tokens);
    router.service(MeService, me);
    router.service(ChangesService, changes);
    router.service(AccessEventsService, accessEvents);
    router.service(FindingsService, findings);
    router.service(SearchService, search);
    router.service(OrgFilesService, orgFiles);
    router.service(ProviderService, provider);
  };
}
