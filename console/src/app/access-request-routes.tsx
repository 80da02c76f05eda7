// The screens of requests for access.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readAskSearch } from "./list-search.ts";
import { orgRoute } from "./org-route.ts";

const accessRequestsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/accessRequests",
  validateSearch: readAskSearch,
  component: lazyRouteComponent(() => import("../screens/access-requests/requests-screen.tsx"), "AccessRequestsScreen"),
});

const accessRequestRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/accessRequests/$request",
  component: lazyRouteComponent(
    () => import("../screens/access-request/access-request-screen.tsx"),
    "AccessRequestScreen",
  ),
});

export const accessRequestRoutes = [accessRequestsRoute, accessRequestRoute] as const;
