// The screens of SCIM sources.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readListSearch } from "./list-search.ts";
import { orgRoute } from "./org-route.ts";

const scimSourcesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/scimSources",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/scim-sources/scim-sources-screen.tsx"), "ScimSourcesScreen"),
});

const scimSourceRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/scimSources/$source",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/scim-source/scim-source-screen.tsx"), "ScimSourceScreen"),
});

export const scimSourceRoutes = [scimSourcesRoute, scimSourceRoute] as const;
