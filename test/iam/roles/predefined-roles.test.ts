import { describe, expect, test } from "vitest";
import { registry } from "../../../src/resource-registry.ts";
import { decide } from "../../../src/access/engine/decisions/decide.ts";
import type { TargetScope } from "../../../src/access/engine/decisions/target-scope.ts";
import { ownAreas } from "../../../src/access/engine/tables/permission-class.ts";
import { createRoleTable } from "../../../src/access/engine/tables/role-table.ts";
import { required } from "../../../src/errors/required.ts";
import { createPredefinedRoles, listKnownPermissions } from "../../../src/iam/roles/predefined-roles.ts";
import { createMethodTable } from "../../../src/rpc/method-table.ts";
import { services } from "../../../src/rpc/services.ts";
import {
  acme,
  alice,
  createSampleSnapshot,
  customer,
  now,
  onPlatform,
  onProject,
  web,
} from "../../access/sample-snapshot.ts";

const methodPermissions = [...createMethodTable(services).values()].flatMap(({ permission }) => permission ?? []);
const roles = createPredefinedRoles(methodPermissions, registry.definitions);

/** The permissions to grant and to revoke access that the caller does not hold. */
const unheld = ["iam.roleBindings.grantUnheld", "iam.roleBindings.revokeUnheld"];

/** The permissions that no method of the API requires by itself. */
const ofNoMethod = [
  "iam.accessRequests.breakGlass",
  "iam.members.introspectTokens",
  "iam.scimSources.provision",
  "resources.resources.get",
  "resources.resources.list",
];

/** Returns the text about a role in the golden file. */
function describeRole({ name, id, description, shown }: (typeof roles)[number]): string {
  return `${name}  @${id}\n  ${description}\n${shown.map((permission) => `    ${permission}\n`).join("")}\n`;
}

describe("the predefined roles", () => {
  test("match test/iam/roles/predefined-roles.golden.txt", async () => {
    await expect(roles.map(describeRole).join("")).toMatchFileSnapshot("predefined-roles.golden.txt");
  });

  test("have unique names and ids, in the form of the ids that the service creates", () => {
    for (const key of ["id", "name"] as const) expect(new Set(roles.map((role) => role[key])).size).toBe(roles.length);
    for (const { id } of roles) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  test("have every permission of a method: the owner has all, and the admin all but a few", () => {
    const [owner, admin] = [roles[0], roles[1]];
    expect(owner).toMatchObject({ name: "owner", permissions: "*", shown: ["*"] });
    const every = [...new Set([...methodPermissions, ...ofNoMethod, ...unheld])].toSorted();
    expect(listKnownPermissions(methodPermissions, registry.definitions)).toEqual(every);
    const withheld =
      /^iam\.(accessRequests\.breakGlass|customers\.(update|delete|undelete|purge)|orgs\.(delete|undelete|purge|suspend|activate)|(members|contacts)\.erase|scimSources\.(create|update|delete|provision)|roleBindings\.(grant|revoke)Unheld)$/;
    const held = [...every.filter((permission) => !withheld.test(permission)), "*.*.*"];
    expect(admin).toMatchObject({ name: "admin", permissions: held, shown: held });
  });

  test("show what they hold", () => {
    for (const { permissions, shown } of roles) expect(shown).toEqual(permissions === "*" ? ["*"] : permissions);
  });

  // A permission of this service is held only if it is listed, or with `*`.
  test.each(roles)("deny permissions of this service that it does not have, unless they show *: $name", (role) => {
    const unknown = [...ownAreas].flatMap((area) =>
      ["members.gett", "members.listt", "foo.get", "foo.list", "foo.bar"].map((rest) => `${area}.${rest}`),
    );
    const predefinedRoles = Object.fromEntries(roles.map((each) => [each.name, each]));
    const snapshot = createSampleSnapshot(predefinedRoles, [
      { role: role.name, on: onPlatform },
      { role: role.name },
      { role: role.name, on: onProject(web) },
    ]);
    const isAllowed = (permission: string, resource: TargetScope): boolean => {
      const subject = snapshot.findSubject("member", { by: "id", value: alice });
      const query = { permission, resource, now, conditionContext: {}, counted: "all" } as const;
      return decide(snapshot, { subject: required(subject), ...query });
    };
    const org = { kind: "org", customerId: customer, orgId: acme } as const;
    for (const resource of [{ kind: "platform" } as const, org, { ...org, kind: "project", projectId: web } as const]) {
      // The role is held there.
      expect(isAllowed(required(role.shown[0]), resource)).toBe(true);
      const allowed = unknown.filter((permission) => isAllowed(permission, resource));
      expect(allowed).toEqual(role.shown.includes("*") ? unknown : []);
    }
  });

  test("allow only the owner to grant and revoke more than it holds", () => {
    for (const { name, permissions } of roles.slice(1)) {
      const held = unheld.filter((each) => permissions === "*" || permissions.includes(each));
      expect([name, held]).toEqual([name, []]);
    }
  });

  test("allow viewers to read everything but sign-ins and refused calls, and to change nothing", () => {
    const viewer = roles.find(({ name }) => name === "viewer");
    const reads = [...methodPermissions, ...ofNoMethod].filter(
      (permission) =>
        /\.(get|list|check|explain|export|plan)$/.test(permission) && permission !== "iam.accessEvents.list",
    );
    expect(viewer?.permissions).toEqual([...[...new Set(reads)].toSorted(), "*.*.get", "*.*.list"]);
  });

  // A list of resources of several types is limited to some orgs, in which the caller may list all of them.
  test("hold the permission to list resources of all types of other services, or of none", () => {
    const lists = roles.map(({ shown }) => shown.filter((each) => /^(?!iam\.|resources\.).*(\.list|\*)$/.test(each)));
    for (const listed of lists) expect([[], ["*"], ["*.*.*"], ["*.*.list"]]).toContainEqual(listed);
    expect(lists.filter((listed) => listed.length > 0).length).toBeGreaterThan(2);
  });

  test("can all be granted by an owner, and all except the owner's and the provisioner's by an admin", () => {
    const table = createRoleTable(Object.fromEntries(roles.map((role) => [role.name, role])));
    const grantableBy = (name: string): string[] =>
      roles
        .map((role) => role.name)
        .filter((role) => table.covers([table.findPredefined(name)], table.findPredefined(role)));
    const names = roles.map(({ name }) => name);
    expect(grantableBy("owner")).toEqual(names);
    expect(grantableBy("admin")).toEqual(names.slice(1).filter((name) => name !== "provisioner"));
    expect(grantableBy("editor")).toEqual(["editor", "viewer", "groups-admin", "projects-admin", "access-checker"]);
    expect(grantableBy("access-admin")).toEqual(["viewer", "access-admin", "access-checker"]);
  });

  test.each([
    ["get", ["owner", "admin", "editor", "viewer", "access-admin"]],
    ["list", ["owner", "admin", "editor", "viewer", "access-admin"]],
    ["start", ["owner", "admin", "editor"]],
  ])("let these %s the resources of other services: %j", (verb, expected) => {
    const table = createRoleTable(Object.fromEntries(roles.map((role) => [role.name, role])));
    const permission = table.permissions.find(`compute.instances.${verb}`);
    const holders = roles.filter(({ name }) => table.has(table.findPredefined(name), permission));
    expect(holders.map(({ name }) => name)).toEqual(expected);
  });

  test("do not treat permissions of this service as those of others", () => {
    const permissions = [...methodPermissions, "billing.invoices.get"];
    expect(() => createPredefinedRoles(permissions, registry.definitions)).toThrow(
      "the permission billing.invoices.get is in an area that has no resource",
    );
  });
});
