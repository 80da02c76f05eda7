import { expect, test } from "vitest";
import type { Authorised } from "../../src/access/evaluation/authorise.ts";
import { everywhere } from "../../src/access/evaluation/resolved-target.ts";
import { type OrgSet, unlimited } from "../../src/access/evaluation/visibility.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import { patterns } from "../../src/paths/patterns.ts";
import type { TypePermissions } from "../../src/resources/type-permissions.ts";
import { authoriseTyped } from "../../src/rpc/authorisation/authorise-typed.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";

const rules = {
  typedPermission: "{service}.{collection}.list",
  listVisibility: "any org",
  target: { localName: "parentPath", name: "parent_path", patterns: [patterns.Project], wildcards: "anywhere" },
} as const satisfies Partial<MethodRules>;

/** Authorises a list of all types, of which each can be listed in some orgs. */
function list(orgsOf: Readonly<Record<string, OrgSet>>): Promise<Authorised> {
  const types = Object.keys(orgsOf).map((prefix) => ({ id: `id of ${prefix}`, prefix }));
  const decide = (permission: string): Promise<Authorised> => {
    const orgs = orgsOf[permission.replace(/\.list$/, "")];
    if (orgs === undefined) return Promise.reject(new ServiceError("PERMISSION_DENIED", permission));
    return Promise.resolve({ target: everywhere, visible: { ...unlimited, orgs } });
  };
  return authoriseTyped(
    { all: () => Promise.resolve(types) } as TypePermissions,
    {
      decide: ({ permission }) => decide(permission),
      decideItems: () => Promise.resolve(),
      visibility: () => unlimited,
    },
    rules as unknown as MethodRules,
    { parentPath: "/orgs/-/projects/-" },
  );
}

const own = (): OrgSet => ({ orgIds: ["own"], customerIds: [] });

test("a list shows the types that the caller may list, in the orgs in which it may", async () => {
  const { visible, visibleTypes } = await list({ "compute.disks": own(), "compute.instances": own() });
  expect(visible.orgs).toEqual(own());
  expect(visibleTypes).toEqual(["id of compute.disks", "id of compute.instances"]);
});

test("a list is refused if the caller may list the types in different orgs, whichever is first", async () => {
  const different = [own(), { orgIds: ["own"], customerIds: ["customer"] }, "all"] as const;
  for (const one of different) {
    for (const other of different.filter((each) => each !== one)) {
      const refused = list({ "compute.disks": one, "compute.instances": other });
      await expect(refused).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    }
  }
});
