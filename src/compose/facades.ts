import type { ConnectRouter } from "@connectrpc/connect";
import { createOrgFilesService } from "../org-files/service.ts";
import { type InProcess, createInProcess } from "../rpc/call-in-process.ts";
import type { Guards } from "../rpc/guards.ts";
import { createErrorInterceptor } from "../rpc/interceptors.ts";
import type { Facades, ServiceDependencies } from "../rpc/services.ts";
import { createSearchService } from "../search/search-service.ts";

/**
 * Composes the services that call the methods of the others in process.
 *
 * @param handlers what the handlers of the others use.
 * @param routes returns what registers all services. It is called with the first of these calls.
 */
export function composeFacades(
  handlers: ServiceDependencies,
  guards: Guards,
  routes: () => (router: ConnectRouter) => void,
): Facades {
  // The log of an org has a refused call as it was made. That a search may not read all is none, and what ends another call is noted with it.
  const errors = createErrorInterceptor(guards.explain, () => undefined);
  let inProcess: InProcess | undefined;
  const ofCaller: InProcess["ofCaller"] = (...call) => {
    inProcess ??= createInProcess(routes(), { ...guards, errors });
    return inProcess.ofCaller(...call);
  };
  return {
    search: createSearchService({ ...handlers, ofCaller }),
    orgFiles: createOrgFilesService({ ...handlers, ofCaller }),
  };
}
