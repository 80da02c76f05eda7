import { describe, expect, test } from "vitest";
import { Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Kind } from "../../../src/cli/plan/creation.ts";
import { makeUpName } from "../../../src/org-files/names/made-up-names.ts";
import { resolveNames } from "../../../src/cli/plan/resolve-names.ts";
import { type DescribedOrganisation, describeOrganisation } from "../../../src/cli/plan/describe-organisation.ts";
import { checkOrganisationFile } from "../../../src/cli/file/organisation-file.ts";
import { planImport } from "../../../src/cli/plan/plan-import.ts";

/** Describes a file whose organisation does not exist yet. */
function describeFile(content: object): DescribedOrganisation {
  const file = checkOrganisationFile({ org: "acme", ...content }, "org.json", { skipUnknownMembers: true });
  const resolve = (kind: Kind, entries: readonly { readonly name: string }[]) => {
    const originals = entries.map(({ name }) => name);
    return resolveNames(kind, originals, [], (original, problem) => expect.fail(`${original}: ${problem}`));
  };
  return describeOrganisation(file, {
    org: resolve("org", [file.org]),
    member: resolve("member", file.members),
    group: resolve("group", file.groups),
    project: resolve("project", file.projects),
  });
}

const pathsOf = (content: object) => describeFile(content).creations.map(({ path }) => path);

describe("an organisation", () => {
  test("is created from the top down", () => {
    const content = {
      projects: ["shop"],
      groups: [
        { name: "sre", parent: "Engineering", members: ["alice"] },
        { name: "engineering", maintainers: ["Bob"] },
      ],
      members: ["alice"],
      admins: ["bob"],
    };
    expect(pathsOf(content)).toEqual([
      "/orgs/acme",
      "/orgs/acme/members/bob",
      "/orgs/acme/members/alice",
      "/orgs/acme/groups/sre",
      "/orgs/acme/groups/engineering",
      "/orgs/acme/projects/shop",
      "/orgs/acme/groups/engineering/subgroups/sre",
      "/orgs/acme/groups/sre/members/alice",
      "/orgs/acme/groups/engineering/members/bob",
      "/orgs/acme/roleBindings/bob-owner",
    ]);
  });

  test("keeps the original name of a renamed resource as its display name", () => {
    const { creations, renamed } = describeFile({ members: ["Zoe"], projects: ["etcd.io"] });
    expect(creations.slice(1).map(({ request }) => request)).toEqual([
      {
        parentPath: "/orgs/acme",
        member: { name: "zoe", displayName: "Zoe", description: "", type: Member_Type.USER },
      },
      { parentPath: "/orgs/acme", project: { name: makeUpName("etcd.io"), displayName: "etcd.io", description: "" } },
    ]);
    expect(renamed).toEqual([
      { kind: "member", original: "Zoe", name: "zoe", isLost: false },
      { kind: "project", original: "etcd.io", name: makeUpName("etcd.io"), isLost: false },
    ]);
  });

  test("prefers the display name of the file", () => {
    const { creations } = describeFile({ projects: [{ name: "Shop", display_name: "Web shop" }] });
    expect(creations[1]?.request).toMatchObject({ project: { name: "shop", displayName: "Web shop" } });
  });

  test.each([["too.many.characters".repeat(5)], ["A\u0007B"], ["É".repeat(513)]])(
    "omits and reports an original that is not a valid display name: %j",
    (original) => {
      const { creations, renamed } = describeFile({ members: [original] });
      expect(creations[1]?.request).toMatchObject({ member: { displayName: "" } });
      expect(renamed).toMatchObject([{ original, isLost: true }]);
    },
  );

  test("skips and reports group members who are not in the organisation", () => {
    const described = describeFile({ members: ["alice"], groups: [{ name: "G", members: ["alice", "Mallory"] }] });
    expect(described.skipped).toEqual([{ group: "G", member: "Mallory" }]);
    expect(described.creations.filter(({ kind }) => kind === "membership")).toHaveLength(1);
  });

  test("counts a maintainer who is also a member once", () => {
    const described = describeFile({ members: ["a"], groups: [{ name: "g", maintainers: ["a"], members: ["A"] }] });
    expect(described.creations.filter(({ kind }) => kind === "membership")).toHaveLength(1);
    expect(described.repeated).toBe(1);
  });

  test("creates a role for each granted one, and creates the role bindings last", () => {
    const { creations } = describeFile({
      admins: ["Root"],
      groups: [{ name: "SRE", members: ["root"] }],
      projects: ["Web", "etcd.io"],
      grants: [
        { group: "sre", project: "web", role: "write" },
        { group: "SRE", project: "etcd.io", role: "admin" },
        { group: "sre", project: "web", role: "admin" },
      ],
    });
    const permissions = ["read", "triage", "write", "maintain", "admin"].map((role) => `repos.access.${role}`);
    const onOrg = { parentPath: "/orgs/acme" };
    const onWeb = { parentPath: "/orgs/acme/projects/web" };
    const [admin, sre] = [{ subjectPath: "/orgs/acme/members/root" }, { subjectPath: "/orgs/acme/groups/sre" }];
    const [canWrite, canAll] = [{ rolePath: "/orgs/acme/roles/write" }, { rolePath: "/orgs/acme/roles/admin" }];
    expect(creations.slice(6)).toEqual([
      {
        kind: "role",
        path: "/orgs/acme/roles/write",
        request: { ...onOrg, role: { name: "write", permissions: permissions.slice(0, 3) } },
      },
      { kind: "role", path: "/orgs/acme/roles/admin", request: { ...onOrg, role: { name: "admin", permissions } } },
      {
        kind: "role binding",
        path: "/orgs/acme/roleBindings/root-owner",
        request: { ...onOrg, roleBinding: { name: "root-owner", ...admin, rolePath: "/roles/owner" } },
      },
      {
        kind: "role binding",
        path: "/orgs/acme/roleBindings/root-admin",
        request: { ...onOrg, roleBinding: { name: "root-admin", ...admin, ...canAll } },
      },
      {
        kind: "role binding",
        path: "/orgs/acme/projects/web/roleBindings/sre-write",
        request: { ...onWeb, roleBinding: { name: "sre-write", ...sre, ...canWrite } },
      },
      {
        kind: "role binding",
        path: `/orgs/acme/projects/${makeUpName("etcd.io")}/roleBindings/sre-admin`,
        request: {
          parentPath: `/orgs/acme/projects/${makeUpName("etcd.io")}`,
          roleBinding: { name: "sre-admin", ...sre, ...canAll },
        },
      },
      {
        kind: "role binding",
        path: "/orgs/acme/projects/web/roleBindings/sre-admin",
        request: { ...onWeb, roleBinding: { name: "sre-admin", ...sre, ...canAll } },
      },
    ]);
  });

  test("grants owner to admins even if the file grants no role admin", () => {
    const grants = [{ group: "g", project: "p", role: "read" }];
    const content = { admins: ["a", "b"], groups: [{ name: "g" }], projects: ["p"], grants };
    expect(pathsOf(content).filter((path) => /role/i.test(path))).toEqual([
      "/orgs/acme/roles/read",
      "/orgs/acme/roleBindings/a-owner",
      "/orgs/acme/roleBindings/b-owner",
      "/orgs/acme/projects/p/roleBindings/g-read",
    ]);
  });
});

test("plans missing resources and counts existing ones", () => {
  const { creations } = describeFile({ members: ["alice", "bob"], projects: ["shop"] });
  const stages = planImport(creations, new Set(["/orgs/acme", "/orgs/acme/members/bob", "/orgs/acme/members/eve"]));
  expect(stages.map(({ kind, missing, existing }) => [kind, missing.map(({ path }) => path), existing])).toEqual([
    ["org", [], 1],
    ["member", ["/orgs/acme/members/alice"], 1],
    ["group", [], 0],
    ["project", ["/orgs/acme/projects/shop"], 0],
    ["subgroup", [], 0],
    ["membership", [], 0],
    ["role", [], 0],
    ["role binding", [], 0],
  ]);
});
