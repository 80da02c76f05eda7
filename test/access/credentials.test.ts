// What each kind of credential is good for: a row for each method, in credentials.golden.txt. `access:testPermissions` decides all
// permissions for one credential in one call, as the methods themselves do.
import { beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import { createRoleTable } from "../../src/access/engine/tables/role-table.ts";
import { createPredefinedRoles } from "../../src/iam/roles/predefined-roles.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sharedTokenServers,
} from "../support/token-servers.ts";

const table = createMethodTable(services);
const roles = createPredefinedRoles(permissionsOfMethods(table), registry.definitions);
const heldByRoles = createRoleTable(Object.fromEntries(roles.map((role) => [role.name, role])));

/** Returns the permission of a method; for infrastructure resources, of those of one type. */
function permissionOf({ permission, typedPermission }: MethodRules): string | undefined {
  return (
    permission ??
    typedPermission
      ?.replace("{service}", "compute")
      .replace("{collection}", "instances")
      .replace("{operation}", "start")
  );
}

const rows = [...table.values()].map((rules) => ({ name: rules.name, permission: permissionOf(rules) }));
const permissions = [...new Set(rows.flatMap(({ permission }) => permission ?? []))];

interface Kind {
  /** Returns a credential of this kind. */
  readonly make: (cast: Cast) => Promise<string>;
  /** The roles that must all hold a permission. */
  readonly roles: readonly string[];
  /** The starts of the permissions that it includes; all if absent. */
  readonly scopes?: readonly string[];
  /** Whether it is for the project only. */
  readonly isForProject?: true;
}

interface Cast {
  readonly place: SharedTokenServers;
  readonly project: string;
  readonly owner: TokenMember;
  readonly membersAdmin: TokenMember;
}

const some = ["iam.members.", "iam.projects.get"];
const scope = "iam.members.* iam.projects.get";

async function makeKey({ place, owner }: Cast): Promise<string> {
  const apiKey = { name: uniqueName("narrowed"), scopes: scope.split(" ") };
  return (await place.api.apiKeys.createApiKey({ parentPath: owner.path, apiKey })).secret ?? "";
}

const kinds: Readonly<Record<string, Kind>> = {
  "API key": { make: ({ owner }) => Promise.resolve(owner.key), roles: ["owner"] },
  "token of a key": { make: ({ place, owner }) => exchangeKey(place.servers[0], owner.key), roles: ["owner"] },
  "token of a session": {
    make: ({ place, owner }) => exchangeKey(place.servers[0], owner.key, { scope: "offline_access" }),
    roles: ["owner"],
  },
  "token with scopes": {
    make: ({ place, owner }) => exchangeKey(place.servers[0], owner.key, { scope }),
    roles: ["owner"],
    scopes: some,
  },
  "token for a project": {
    make: ({ place, owner, project }) => exchangeKey(place.servers[0], owner.key, { project }),
    roles: ["owner"],
    isForProject: true,
  },
  "token with both": {
    make: ({ place, owner, project }) => exchangeKey(place.servers[0], owner.key, { project, scope }),
    roles: ["owner"],
    scopes: some,
    isForProject: true,
  },
  "API key with scopes": { make: makeKey, roles: ["owner"], scopes: some },
  "token of that key": {
    make: async (cast) => exchangeKey(cast.place.servers[0], await makeKey(cast)),
    roles: ["owner"],
    scopes: some,
  },
  "impersonation of an owner": {
    async make({ place, owner, membersAdmin }) {
      const { members } = createApi("gRPC", place.servers[0].url, membersAdmin.key);
      return (await members.impersonateMember({ path: owner.path })).accessToken;
    },
    roles: ["owner", "members-admin"],
  },
  "impersonation by an owner": {
    async make({ place, owner, membersAdmin }) {
      const { members } = createApi("gRPC", place.servers[0].url, owner.key);
      const scopes = scope.split(" ");
      return (await members.impersonateMember({ path: membersAdmin.path, scopes })).accessToken;
    },
    roles: ["owner", "members-admin"],
    scopes: some,
  },
};

let cast: Cast;
let org: string;
/** What each credential is good for on the org and on the project. */
const found = new Map<string, readonly [ReadonlySet<string>, ReadonlySet<string>]>();

beforeAll(async () => {
  const place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  const { path: project } = await place.api.projects.createProject({ parentPath: org, project: { name: "web" } });
  const owner = await createTokenMember(place.api, org, "owner");
  cast = { place, project, owner, membersAdmin: await createTokenMember(place.api, org, "members-admin") };
  for (const [kind, { make }] of Object.entries(kinds)) {
    const access = createAccessClient("gRPC", place.servers[1].url, await make(cast));
    const ask = async (resourcePath: string) =>
      new Set((await access.testPermissions({ resourcePath, permissions })).permissions);
    found.set(kind, [await ask(org), await ask(project)]);
  }
});

describe.each(Object.entries(kinds))("%s", (kind, { roles: names, scopes, isForProject }) => {
  test.each(["on the org", "on a project"])("is good for what all its parts allow %s", (where) => {
    const held = (permission: string): boolean =>
      names.every((name) =>
        heldByRoles.has(heldByRoles.findPredefined(name), heldByRoles.permissions.find(permission)),
      );
    const included = (permission: string): boolean => scopes?.some((start) => permission.startsWith(start)) ?? true;
    const isOutside = isForProject === true && where === "on the org";
    const expected = permissions.filter((permission) => !isOutside && held(permission) && included(permission));
    const [onOrg, onProject] = found.get(kind) ?? [];
    expect([...((where === "on the org" ? onOrg : onProject) ?? [])].toSorted()).toEqual(expected.toSorted());
  });
});

test("each method has a row", async () => {
  const names = Object.keys(kinds);
  const cell = (kind: string, permission: string): string => {
    const [onOrg, onProject] = found.get(kind) ?? [];
    if (onOrg?.has(permission) === true) return "x";
    return onProject?.has(permission) === true ? "p" : ".";
  };
  const lines = rows.map(({ name, permission }) => {
    if (permission === undefined) return `${"".padEnd(names.length, "-")} ${name}`;
    return `${names.map((kind) => cell(kind, permission)).join("")} ${name} ${permission}`;
  });
  const columns = names.map((name, index) => `${"|".repeat(index)}${name}`);
  const legend = "x: allowed on the org and on its projects, p: on the project only, -: requires no permission";
  const text = `${legend}\n\n${columns.join("\n")}\n${lines.toSorted((one, other) => compare(one, other)).join("\n")}\n`;
  await expect(text).toMatchFileSnapshot("credentials.golden.txt");
});

/** Compares lines by what follows the cells. */
function compare(one: string, other: string): number {
  const [first, second] = [one, other].map((line) => line.slice(line.indexOf(" ")));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
