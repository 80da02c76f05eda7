import {
  type ConnectRouter,
  createMethodImplSpec,
  createServiceImplSpec,
  type MethodImplSpec,
} from "@connectrpc/connect";

/** Runs a routes function, such as for connectNodeAdapter, and returns the methods that it registers. */
export function collectMethods(routes: (router: ConnectRouter) => void): MethodImplSpec[] {
  const methods: MethodImplSpec[] = [];
  const router: ConnectRouter = {
    handlers: [],
    service(service, implementation) {
      methods.push(...Object.values(createServiceImplSpec(service, implementation).methods));
      return router;
    },
    rpc(method, implementation) {
      methods.push(createMethodImplSpec(method, implementation));
      return router;
    },
  };
  routes(router);
  return methods;
}
