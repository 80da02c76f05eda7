import type { ConnectRouter } from "@connectrpc/connect";
import { createOrgFilesService } from "../org-files/service.ts";
import { type InProcess, createInProcess } from "../rpc/call-in-process.ts";
import type { Guards } from "../rpc/guards.ts";
import { createErrorInterceptor } from "../rpc/interceptors.ts";
import type { Access } from "./access.ts";
import type { Scheduling } from "./scheduling.ts";
import type { Facades, ServiceDependencies } from "../rpc/services.ts";
import { createSearchService } from "../search/search-service.ts";

/**
 * Composes the services that call the methods of the others in process.
 *
 * @param handlers what the handlers of the others use.
 * @param routes returns what registers all services. It is called with the first of these calls.
 */
export function composeFacades(
  handlers: ServiceDependencies & Pick<Access, "openPlannedOrg">,
  { fileQueue }: Pick<Scheduling, "fileQueue">,
  guards: Guards,
  routes: () => (router: ConnectRouter) => void,
): Facades {
  // A search tries what its caller may read. That it may not read all is no refused call in the log of an org.
  const errors = createErrorInterceptor(guards.explain, () => undefined);
  return {
    search: createSearchService({
      ...handlers,
      ofCaller: whenCalled(() => createInProcess(routes(), { ...guards, errors })),
    }),
    // What refuses a call for a file is noted with the method that refused.
    orgFiles: createOrgFilesService({
      ...handlers,
      fileQueue,
      ofCaller: whenCalled(() => createInProcess(routes(), guards)),
    }),
  };
}

/** Returns the function that calls a method as its caller, for which all services must be registered. */
function whenCalled(make: () => InProcess): InProcess["ofCaller"] {
  let inProcess: InProcess | undefined;
  return (...call) => {
    inProcess ??= make();
    return inProcess.ofCaller(...call);
  };
}
