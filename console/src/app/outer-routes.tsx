// The screens of what is in no org: of the person, of customers, of the platform, and the service catalog.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readAboveSearch, readListSearch, readQuotaSearch, readWebhookSearch } from "./list-search.ts";
import { rootRoute } from "./root-route.ts";
import { readUsageSearch } from "./usage-search.ts";

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/home/home-screen.tsx"), "HomeScreen"),
});

const meRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/me",
  component: lazyRouteComponent(() => import("../screens/me/me-screen.tsx"), "MeScreen"),
});

const predefinedRoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/roles/$role",
  component: lazyRouteComponent(() => import("../screens/roles/role-screen.tsx"), "PredefinedRoleScreen"),
});

const customerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/customers/$customer",
  validateSearch: readAboveSearch,
  component: lazyRouteComponent(() => import("../screens/above/customer-screen.tsx"), "CustomerScreen"),
});

const customerQuotaRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/customers/$customer/quota",
  validateSearch: readQuotaSearch,
  component: lazyRouteComponent(() => import("../screens/quota/quota-screen.tsx"), "CustomerQuotaScreen"),
});

const customerUsageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/customers/$customer/usage",
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import("../screens/usage/usage-screen.tsx"), "CustomerUsageScreen"),
});

const customerWebhooksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/customers/$customer/webhooks",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/webhooks/webhooks-screen.tsx"), "CustomerWebhooksScreen"),
});

const customerWebhookRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/customers/$customer/webhooks/$webhook",
  validateSearch: readWebhookSearch,
  component: lazyRouteComponent(() => import("../screens/webhook/webhook-screen.tsx"), "CustomerWebhookScreen"),
});

const platformRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/platform",
  validateSearch: readAboveSearch,
  component: lazyRouteComponent(() => import("../screens/above/platform-screen.tsx"), "PlatformScreen"),
});

const servicesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/services",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/catalog/services-screen.tsx"), "ServicesScreen"),
});

const serviceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/services/$service",
  component: lazyRouteComponent(() => import("../screens/catalog/service-screen.tsx"), "ServiceScreen"),
});

const serviceGrantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/services/$service/roleBindings",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/grants/grants-screen.tsx"), "ServiceGrantsScreen"),
});

const resourceTypeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/services/$service/resourceTypes/$type",
  component: lazyRouteComponent(() => import("../screens/catalog/resource-type-screen.tsx"), "ResourceTypeScreen"),
});

const quantityKindsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/quantityKinds",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/catalog/quantity-kinds-screen.tsx"), "QuantityKindsScreen"),
});

export const outerRoutes = [
  homeRoute,
  meRoute,
  predefinedRoleRoute,
  customerRoute,
  customerQuotaRoute,
  customerUsageRoute,
  customerWebhooksRoute,
  customerWebhookRoute,
  platformRoute,
  servicesRoute,
  serviceRoute,
  serviceGrantsRoute,
  resourceTypeRoute,
  quantityKindsRoute,
] as const;
