// Each permission of this service is decided: whether it counts for members of the platform with an approval, without one, or never.
import { expect, test } from "vitest";
import { isApprovable, isOperating } from "../../src/access/evaluation/support-permissions.ts";
import { listKnownPermissions } from "../../src/iam/roles/predefined-roles.ts";
import { registry } from "../../src/resource-registry.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";

const methodPermissions = [...createMethodTable(services).values()].flatMap(({ permission }) => permission ?? []);

/** Never, but by the customer's own people, or on the platform and its catalog, where nothing is approved. By collection. */
const never: Readonly<Record<string, string>> = {
  "iam.accessRequests": "create cancel approve decline end breakGlass",
  "iam.apiKeys": "create update delete rotate confirm",
  "iam.clients": "create update delete rotate",
  "iam.contacts": "create update delete erase sendConfirmation",
  "iam.customers": "update",
  "iam.eventStreams": "create update delete pause resume inspect poll verify",
  "iam.groupMembers": "create update delete",
  "iam.groups": "create update delete",
  "iam.identities": "create update delete",
  "iam.identityProviders": "create update delete",
  "iam.members":
    "create update delete undelete purge erase activate suspend invite sendInvitation impersonate revokeTokens",
  "iam.orgs": "create update apply rollback",
  "iam.projects": "create update delete undelete purge activate suspend",
  "iam.quotaRequests": "create update delete",
  "iam.roleBindings": "create update delete grantUnheld revokeUnheld",
  "iam.roles": "create update delete",
  "iam.scimSources": "create update delete provision",
  "iam.sessions": "delete",
  "iam.subgroups": "create update delete",
  "iam.webhooks": "create update delete pause resume replay rotate test",
  "resources.operations": "claim complete fail report",
  "resources.qualityKinds": "create update delete",
  "resources.quantityKinds": "create update delete",
  "resources.resourceTypes": "create update delete",
  "resources.services": "create update delete",
};

test("each permission has a decision", () => {
  const denied = Object.entries(never).flatMap(([collection, verbs]) =>
    verbs.split(" ").map((verb) => `${collection}.${verb}`),
  );
  const known = listKnownPermissions(methodPermissions, registry.definitions);
  const isCounted = (permission: string): boolean => isApprovable(permission) || isOperating(permission, true);
  expect(known.filter((permission) => !isCounted(permission)).toSorted()).toEqual(denied.toSorted());
});

test("of the permissions to operate, those on what is in a project are the fewest", () => {
  const known = listKnownPermissions(methodPermissions, registry.definitions);
  expect(known.filter((permission) => isOperating(permission, false))).toEqual([
    "iam.access.check",
    "iam.members.introspectTokens",
  ]);
});

test("permissions of services count as their role says", () => {
  expect(["compute.instances.get", "compute.instances.start"].map(isApprovable)).toEqual([true, true]);
});
