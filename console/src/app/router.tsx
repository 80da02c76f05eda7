// The screens. Each is at the path of what it shows, and its URL holds all its state.
import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Loading } from "../ui/notes.tsx";
import { accessRequestRoutes } from "./access-request-routes.tsx";
import {
  readAccessSearch,
  readChangesSearch,
  readFindingsSearch,
  readListSearch,
  readManagedSearch,
  readMembersSearch,
  readPastSearch,
  readResourcesSearch,
  readRollbackSearch,
  readTabSearch,
} from "./list-search.ts";
import { NoScreen } from "./no-screen.tsx";
import { orgRoute } from "./org-route.ts";
import { outerRoutes } from "./outer-routes.tsx";
import { accountRoute } from "./account-routes.tsx";
import { quotaRoutes } from "./quota-routes.tsx";
import { type RouterContext, rootRoute } from "./root-route.ts";
import { scimSourceRoutes } from "./scim-source-routes.tsx";
import { ScreenError } from "./screen-error.tsx";

const overviewRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/",
  component: lazyRouteComponent(() => import("../screens/overview/overview-screen.tsx"), "OverviewScreen"),
});

const membersRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/members",
  validateSearch: readMembersSearch,
  component: lazyRouteComponent(() => import("../screens/members/members-screen.tsx"), "MembersScreen"),
});

const memberRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/members/$member",
  validateSearch: readTabSearch,
  component: lazyRouteComponent(() => import("../screens/member/member-screen.tsx"), "MemberScreen"),
});

const projectsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/projects/projects-screen.tsx"), "ProjectsScreen"),
});

const projectRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project",
  component: lazyRouteComponent(() => import("../screens/projects/project-screen.tsx"), "ProjectScreen"),
});

const orgGrantsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/roleBindings",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/grants/grants-screen.tsx"), "OrgGrantsScreen"),
});

const projectGrantsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/roleBindings",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/grants/grants-screen.tsx"), "ProjectGrantsScreen"),
});

// `-` in the place of a project stands for all of them, as in the API.
const resourcesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/resources",
  validateSearch: readResourcesSearch,
  component: lazyRouteComponent(() => import("../screens/resources/resources-screen.tsx"), "ResourcesScreen"),
});

const resourceRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/resources/$resource",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/resource/resource-screen.tsx"), "ResourceScreen"),
});

const operationsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/operations",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/operations/operations-screen.tsx"), "OperationsScreen"),
});

const operationRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/projects/$project/operations/$operation",
  component: lazyRouteComponent(() => import("../screens/operation/operation-screen.tsx"), "OperationScreen"),
});

const rolesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/roles",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/roles/roles-screen.tsx"), "RolesScreen"),
});

const roleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/roles/$role",
  component: lazyRouteComponent(() => import("../screens/roles/role-screen.tsx"), "RoleScreen"),
});

const groupsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/groups",
  validateSearch: readManagedSearch,
  component: lazyRouteComponent(() => import("../screens/groups/groups-screen.tsx"), "GroupsScreen"),
});

const groupRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/groups/$group",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/groups/group-screen.tsx"), "GroupScreen"),
});

const changesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/changes",
  validateSearch: readChangesSearch,
  component: lazyRouteComponent(() => import("../screens/changes/changes-screen.tsx"), "ChangesScreen"),
});

const rollbackRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/rollback",
  validateSearch: readRollbackSearch,
  component: lazyRouteComponent(() => import("../screens/rollback/rollback-screen.tsx"), "RollbackScreen"),
});

const pastRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/past",
  validateSearch: readPastSearch,
  component: lazyRouteComponent(() => import("../screens/past/past-screen.tsx"), "PastScreen"),
});

const whyRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/access",
  validateSearch: readAccessSearch,
  component: lazyRouteComponent(() => import("../screens/why/why-screen.tsx"), "WhyScreen"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/webhooks",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/webhooks/webhooks-screen.tsx"), "OrgWebhooksScreen"),
});

const webhookRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/webhooks/$webhook",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/webhook/webhook-screen.tsx"), "OrgWebhookScreen"),
});

const findingsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/findings",
  validateSearch: readFindingsSearch,
  component: lazyRouteComponent(() => import("../screens/findings/findings-screen.tsx"), "FindingsScreen"),
});

const eventStreamsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/eventStreams",
  validateSearch: readListSearch,
  component: lazyRouteComponent(
    () => import("../screens/event-streams/event-streams-screen.tsx"),
    "EventStreamsScreen",
  ),
});

const eventStreamRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/eventStreams/$eventStream",
  component: lazyRouteComponent(() => import("../screens/event-stream/event-stream-screen.tsx"), "EventStreamScreen"),
});

const clientsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/clients",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("../screens/clients/clients-screen.tsx"), "ClientsScreen"),
});

const clientRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/clients/$client",
  component: lazyRouteComponent(() => import("../screens/client/client-screen.tsx"), "ClientScreen"),
});

const identityProvidersRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/identityProviders",
  validateSearch: readListSearch,
  component: lazyRouteComponent(
    () => import("../screens/identity-providers/identity-providers-screen.tsx"),
    "IdentityProvidersScreen",
  ),
});

const identityProviderRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: "/identityProviders/$provider",
  component: lazyRouteComponent(
    () => import("../screens/identity-provider/identity-provider-screen.tsx"),
    "IdentityProviderScreen",
  ),
});

export const createConsoleRouter = (context: RouterContext) =>
  createRouter({
    routeTree: rootRoute.addChildren([
      ...outerRoutes,
      orgRoute.addChildren([
        overviewRoute,
        membersRoute,
        memberRoute,
        groupsRoute,
        groupRoute,
        projectsRoute,
        projectRoute,
        orgGrantsRoute,
        projectGrantsRoute,
        resourcesRoute,
        resourceRoute,
        operationsRoute,
        operationRoute,
        rolesRoute,
        roleRoute,
        findingsRoute,
        changesRoute,
        pastRoute,
        rollbackRoute,
        whyRoute,
        webhooksRoute,
        webhookRoute,
        eventStreamsRoute,
        eventStreamRoute,
        clientsRoute,
        clientRoute,
        identityProvidersRoute,
        identityProviderRoute,
        ...scimSourceRoutes,
        ...accessRequestRoutes,
        accountRoute,
        ...quotaRoutes,
      ]),
    ]),
    basepath: "/console",
    context,
    defaultPreload: false,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ScreenError,
    defaultNotFoundComponent: NoScreen,
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
