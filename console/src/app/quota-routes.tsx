// The screens of what an org may use, uses, and asks for.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readListSearch, readQuotaSearch } from "./list-search.ts";
import { orgRoute } from "./org-route.ts";
import { readUsageSearch } from "./usage-search.ts";

const orgQuotaRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/quota",
  validateSearch: readQuotaSearch,
  component: lazyRouteComponent(() => import("../screens/quota/quota-screen.tsx"), "OrgQuotaScreen"),
});

const projectQuotaRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/quota",
  validateSearch: readQuotaSearch,
  component: lazyRouteComponent(() => import("../screens/quota/quota-screen.tsx"), "ProjectQuotaScreen"),
});

const orgUsageRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/usage",
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import("../screens/usage/usage-screen.tsx"), "OrgUsageScreen"),
});

const projectUsageRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/usage",
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import("../screens/usage/usage-screen.tsx"), "ProjectUsageScreen"),
});

const quotaRequestsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/quotaRequests",
  validateSearch: readListSearch,
  component: lazyRouteComponent(
    () => import("../screens/quota-requests/quota-requests-screen.tsx"),
    "QuotaRequestsScreen",
  ),
});

const quotaRequestRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/quotaRequests/$request",
  component: lazyRouteComponent(
    () => import("../screens/quota-request/quota-request-screen.tsx"),
    "QuotaRequestScreen",
  ),
});

export const quotaRoutes = [
  orgQuotaRoute,
  projectQuotaRoute,
  orgUsageRoute,
  projectUsageRoute,
  quotaRequestsRoute,
  quotaRequestRoute,
] as const;
