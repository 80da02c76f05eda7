// The screen of the account of an org. That of a customer is a tab of its screen.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { orgRoute } from "./org-route.ts";

export const accountRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("../screens/account/account-screen.tsx"), "AccountScreen"),
});
