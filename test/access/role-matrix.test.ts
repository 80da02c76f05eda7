// Generates the tables in docs/roles.md from the roles and the methods, and keeps the text before them.
import { readFile } from "node:fs/promises";
import { type DescService, getOption } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { registry } from "../../src/resource-registry.ts";
import { createRoleTable } from "../../src/access/engine/tables/role-table.ts";
import type { PathPattern } from "../../src/paths/patterns.ts";
import {
  type PredefinedRole,
  createPredefinedRoles,
  listKnownPermissions,
} from "../../src/iam/roles/predefined-roles.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";

const table = createMethodTable(services);
const roles = createPredefinedRoles(permissionsOfMethods(table), registry.definitions);
const file = "../../docs/roles.md";
const marker =
  "<!-- What follows is written by test/access/role-matrix.test.ts; `npx vitest run test/access/role-matrix.test.ts -u` writes it again. -->\n";

const held = createRoleTable(Object.fromEntries(roles.map((role) => [role.name, role])));

function holds({ name }: PredefinedRole, permission: string): boolean {
  return held.has(held.findPredefined(name), held.permissions.find(permission));
}

interface Row {
  readonly permission: string;
  readonly methods: readonly string[];
  readonly places: readonly string[];
}

/** Returns the permissions that the methods of a service require, with the methods and the scopes. */
function rowsOf(service: DescService): Row[] {
  const rules = service.methods.map((method) => ({ name: method.name, rules: rulesOf(service, method.name) }));
  const byPermission = Map.groupBy(rules, ({ rules: each }) => each.permission ?? each.typedPermission ?? "");
  return [...byPermission].map(([permission, asking]) => ({
    permission,
    methods: asking.map(({ name }) => name),
    places: [...new Set(asking.flatMap(({ rules: each }) => placesOf(each)))],
  }));
}

function rulesOf(service: DescService, name: string): MethodRules {
  const method = service.methods.find((each) => each.name === name);
  const rules = method && table.get(method);
  if (rules === undefined) throw new Error(`${name} is not in the method table`);
  return rules;
}

function placesOf({ permission, typedPermission, target, anyPath }: MethodRules): string[] {
  if (permission === undefined && typedPermission === undefined) return [];
  if (anyPath !== undefined) return ["resource"];
  return (target?.patterns ?? [[]]).map(placeOfPattern);
}

function placeOfPattern([first, second, ...rest]: PathPattern): string {
  if (first === undefined) return "platform";
  if (first === "customers") return "customer";
  if (first === "services") return "service";
  if (first === "roles") return "any org";
  if (first !== "orgs") return "platform";
  return second === "projects" || rest.includes("projects") ? "project" : "org";
}

function describeRoles(): string {
  const lines = roles.map(({ name, description }) => `| \`${name}\` | ${description} |\n`);
  return `## The predefined roles\n\n| Role | What it is for |\n|---|---|\n${lines.join("")}`;
}

function describeServices(): string {
  return services.map((service) => `\n### ${service.name}\n\n${describeRows(rowsOf(service))}`).join("");
}

function describeRows(rows: readonly Row[]): string {
  const names = roles.map(({ name }) => name);
  const header = `| Permission | Held on | Methods | ${names.join(" | ")} |\n|---|---|---|${":-:|".repeat(names.length)}\n`;
  return `${header}${rows.map(describeRow).join("")}`;
}

function describeRow({ permission, methods, places }: Row): string {
  // What the type of a resource defines, shown for a type of another service.
  const example = permission
    .replace("{service}", "compute")
    .replace("{collection}", "instances")
    .replace("{operation}", "start");
  const marks = roles.map((role) => (permission === "" || holds(role, example) ? "●" : "·"));
  const asked = permission === "" ? "*none: anyone may call it*" : `\`${permission}\``;
  return `| ${asked} | ${places.join(", ")} | ${methods.join(", ")} | ${marks.join(" | ")} |\n`;
}

/** Permissions that no method requires by itself. */
function describeOthers(): string {
  const asked = new Set(permissionsOfMethods(table));
  const others = listKnownPermissions([], registry.definitions).filter((permission) => !asked.has(permission));
  const rows = others.map((permission) => ({ permission, methods: [], places: ["any"] }));
  return `\n### Without a method\n\n${describeRows(rows)}`;
}

/** The permissions of other services, by their verbs. */
function describeOtherServices(): string {
  const rows = ["get", "list", "use", "start"].map((verb) => ({
    permission: `compute.instances.${verb}`,
    methods: [],
    places: ["any"],
  }));
  return `\n### Of other services, for example\n\n${describeRows(rows)}`;
}

describe("the roles", () => {
  test("match docs/roles.md, with the permission of every method", async () => {
    const [written = ""] = (await readFile(new URL(file, import.meta.url), "utf8")).split(marker);
    const matrix = `\n## Which role may what\n${describeServices()}${describeOthers()}${describeOtherServices()}`;
    await expect(`${written}${marker}\n${describeRoles()}${matrix}`).toMatchFileSnapshot(file);
  });

  test("are required for every method, except those for anyone", () => {
    const methods = services.flatMap((service) => service.methods);
    for (const method of methods) {
      const { permission, anyone } = getOption(method, authorization);
      expect([method.name, roles.some((role) => holds(role, permission))]).toEqual([method.name, true]);
      expect([method.name, permission === ""]).toEqual([method.name, anyone]);
    }
  });

  test("allow only the owner to change a customer, and to delete, suspend and activate an org", () => {
    const above = permissionsOfMethods(table).filter((permission) =>
      /^iam\.customers\.(?!get$|list$)|^iam\.orgs\.(delete|undelete|purge|suspend|activate)$/.test(permission),
    );
    expect(above.length).toBeGreaterThan(5);
    for (const permission of above) {
      expect([permission, roles.filter((role) => holds(role, permission)).map(({ name }) => name)]).toEqual([
        permission,
        ["owner"],
      ]);
    }
  });
});
