// What members of the platform may do where a customer requires that its orgs approve that: without an approval, and with one. Each permission of this
// service is decided here or in the list of `test/access/support-permissions.test.ts`, which fails for one that is not.

/** What the platform cannot operate without, on an org or a customer as a whole. None of it shows what is in one. */
const operatingOnWhole: ReadonlySet<string> = new Set([
  // That there is one, its own fields and its state.
  "iam.orgs.get",
  "iam.orgs.list",
  "iam.customers.get",
  "iam.customers.list",
  // Who does not pay, or does harm.
  "iam.orgs.suspend",
  "iam.orgs.activate",
  "iam.orgs.delete",
  "iam.orgs.undelete",
  "iam.orgs.purge",
  "iam.customers.delete",
  "iam.customers.undelete",
  "iam.customers.purge",
  // How much of the installation it may use.
  "iam.quotas.get",
  "iam.quotas.update",
  // What is to be paid.
  "iam.usage.get",
]);

/** The same on what is in an org, for services that are asked by its members: whether somebody may do something, and whether a token is valid. */
const operatingInside: ReadonlySet<string> = new Set(["iam.access.check", "iam.members.introspectTokens"]);

/** @param isWhole whether it is on an org or a customer, and not on what is in a project. */
export function isOperating(permission: string, isWhole: boolean): boolean {
  return operatingInside.has(permission) || (isWhole && operatingOnWhole.has(permission));
}

/**
 * What counts of the role of an approved request, of the permissions of this service: reading, to cancel operations, and to decide about requests
 * for quotas. What makes or changes access, credentials, or what is sent elsewhere, never does, so that nothing of an approval stays after its end.
 */
const approvable: ReadonlySet<string> = new Set([
  "iam.access.explain",
  "iam.access.list",
  "iam.accessEvents.list",
  "iam.accessRequests.get",
  "iam.accessRequests.list",
  "iam.apiKeys.get",
  "iam.apiKeys.list",
  "iam.changes.list",
  "iam.clients.get",
  "iam.clients.list",
  "iam.contacts.get",
  "iam.contacts.list",
  "iam.eventStreams.get",
  "iam.eventStreams.list",
  "iam.findings.list",
  "iam.groupMembers.get",
  "iam.groupMembers.list",
  "iam.groups.get",
  "iam.groups.list",
  "iam.identities.get",
  "iam.identities.list",
  "iam.identityProviders.get",
  "iam.identityProviders.list",
  "iam.members.get",
  "iam.members.list",
  "iam.orgs.export",
  "iam.orgs.plan",
  "iam.projects.get",
  "iam.projects.list",
  "iam.quotas.get",
  "iam.quotaRequests.approve",
  "iam.quotaRequests.get",
  "iam.quotaRequests.list",
  "iam.quotaRequests.reject",
  "iam.roleBindings.get",
  "iam.roleBindings.list",
  "iam.roles.get",
  "iam.roles.list",
  "iam.scimSources.get",
  "iam.scimSources.list",
  "iam.sessions.get",
  "iam.sessions.list",
  "iam.subgroups.get",
  "iam.subgroups.list",
  "iam.usage.get",
  "iam.webhookDeliveries.list",
  "iam.webhooks.get",
  "iam.webhooks.list",
  "resources.operations.cancel",
  "resources.operations.get",
  "resources.operations.list",
  "resources.resources.get",
  "resources.resources.list",
]);

/** Whether a permission can be approved. Those of other services, and of types of resources, are about what is in projects. */
export function isApprovable(permission: string): boolean {
  const [area] = permission.split(".", 1);
  return approvable.has(permission) || (area !== "iam" && area !== "resources");
}
