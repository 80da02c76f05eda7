import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import type { SearchService } from "../../gen/iam/v1alpha/search_pb.ts";
import { type InProcess, createInProcess } from "../rpc/call-in-process.ts";
import type { Guards } from "../rpc/guards.ts";
import { createErrorInterceptor } from "../rpc/interceptors.ts";
import { createSearchService } from "../search/search-service.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";

/**
 * Composes the search, which calls the methods of the other services in process.
 *
 * @param routes returns what registers all services. It is called with the first search.
 */
export function composeSearch(
  registry: ResourceRegistry,
  guards: Guards,
  routes: () => (router: ConnectRouter) => void,
): ServiceImpl<typeof SearchService> {
  // A search tries what its caller may read. That it may not read all is no refused call in the log of an org.
  const errors = createErrorInterceptor(guards.explain, () => undefined);
  let inProcess: InProcess | undefined;
  return createSearchService({
    registry,
    ofCaller(...call) {
      inProcess ??= createInProcess(routes(), { ...guards, errors });
      return inProcess.ofCaller(...call);
    },
  });
}
