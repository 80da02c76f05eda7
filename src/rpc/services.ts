import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { AuthorizationApiService } from "../../gen/authzen/v1/authorization_api_pb.ts";
import { createAuthorizationApiService } from "../access-checks/authzen/service.ts";
import type { AccessDependencies } from "../access-checks/dependencies.ts";
import { createAccessService } from "../access-checks/service.ts";
import { catalog } from "../catalog.ts";
import type { RoleDependencies } from "../roles/service.ts";

/** Every service of the API. */
export const services: readonly DescService[] = [
  ...catalog.map(({ definitions: [{ service }] }) => service),
  AccessService,
];

/** Services that others have laid down; they are served as their standards say, over REST only. */
export const standardServices: readonly DescService[] = [AuthorizationApiService];

/** What the handlers of all services need. */
export type ServiceDependencies = RoleDependencies & AccessDependencies;

/** The handlers of every service; the same ones for REST and RPC. */
export function createServices(dependencies: ServiceDependencies): (router: ConnectRouter) => void {
  const made = catalog.map(({ definitions: [{ service }], createService }) => ({
    service,
    handlers: createService(dependencies),
  }));
  const access = createAccessService(dependencies);
  return (router) => {
    for (const { service, handlers } of made) router.service(service, handlers);
    router.service(AccessService, access);
  };
}

export function createStandardServices(dependencies: ServiceDependencies): (router: ConnectRouter) => void {
  const authorizationApi = createAuthorizationApiService(dependencies);
  return (router) => {
    router.service(AuthorizationApiService, authorizationApi);
  };
}
