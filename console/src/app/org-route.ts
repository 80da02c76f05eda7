import { createRoute } from "@tanstack/react-router";
import { OrgFrame } from "./org-frame.tsx";
import { rootRoute } from "./root-route.ts";

/** The route of an org, below which are those of what is in it. */
export const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/orgs/$org",
  beforeLoad: ({ context, params }) => context.session.actIn(`/orgs/${params.org}`),
  component: OrgFrame,
});
