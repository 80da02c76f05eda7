// Names in a file that are no names of the API: the account, group, project or org that they get is that of nobody else.
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { makeUpName } from "../../src/org-files/names/made-up-names.ts";
import { ImportError } from "../../src/cli/import-error.ts";
import { uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { importInto, total } from "./support/import-into.ts";
import { type StoredOrg, readOrg } from "./support/read-org.ts";
import { runTenantry } from "./support/spawn-tenantry.ts";
import { temporaryFile } from "./support/temporary-file.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const clientOf = <Service extends Parameters<typeof createClient>[0]>(service: Service) =>
  createClient(service, createTransport("Connect", server.url, server.operatorKey));

const importFile = async (content: object) =>
  importInto(server, await temporaryFile("org.json", JSON.stringify(content)));

/** Imports a file into an org, and returns what the import refuses, after a check that it has changed nothing. */
async function refusalOf(org: string, content: object): Promise<string> {
  const before = await readOrg(server.databaseUrl, org);
  const error = await importFile({ org, ...content }).then(
    () => new Error("the import was not refused"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ImportError);
  expect(await readOrg(server.databaseUrl, org)).toEqual(before);
  return (error as Error).message;
}

const stored = (org: string): Promise<StoredOrg> => readOrg(server.databaseUrl, org);

async function createOrg(): Promise<string> {
  const name = uniqueName("names");
  await clientOf(OrgsService).createOrg({ org: { name } });
  return name;
}

async function createMember(org: string, name: string, displayName = ""): Promise<void> {
  await clientOf(MembersService).createMember({ parentPath: `orgs/${org}`, member: { name, displayName } });
}

const [zoe, jurgen, jorgen] = ["Zoë", "Jürgen Müller", "Jörgen Möller"].map(makeUpName) as [string, string, string];

describe("an account of somebody else whose name resembles one of the file", () => {
  test("gets no rights: the import is refused before it writes, and says what to write", async () => {
    const org = await createOrg();
    await createMember(org, "zo");
    const refusal = await refusalOf(org, { admins: ["Zoë"], projects: ["p"] });
    expect(refusal).toContain(`member "Zoë": may be the member zo (display name "zo"), or another one; if it is, `);
    expect(refusal).toContain(
      `write "zo" in place of "Zoë" everywhere in the file, and if not, another name, such as "${zoe}"`,
    );

    expect((await importFile({ org, admins: [{ name: zoe, display_name: "Zoë" }] })).end).toBeUndefined();
    expect((await stored(org)).roleBindings).toEqual([`/${zoe}/owner`]);
    // Now there is an account with the made-up name, so the original is enough.
    expect(total(await importFile({ org, admins: ["Zoë"] }))).toMatchObject({ created: 0 });
  });

  test("is taken if the file names it", async () => {
    const org = await createOrg();
    await createMember(org, "zo");
    await importFile({ org, admins: [{ name: "zo", display_name: "Zoë" }] });
    expect(await stored(org)).toMatchObject({ members: ["zo"], roleBindings: ["/zo/owner"] });
  });

  test("is left alone with --strict, and the import exits with 2 before it writes", async () => {
    const org = await createOrg();
    await createMember(org, "zo");
    const before = await stored(org);
    const file = await temporaryFile(
      "org.json",
      JSON.stringify({ org, admins: [{ name: "zo", display_name: "Zoë" }] }),
    );
    const environment = { TENANTRY_URL: server.url, TENANTRY_API_KEY: server.operatorKey };
    const { code, stdout } = await runTenantry(["import", file, "--strict"], environment);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^Nothing was changed, as --strict says: \S+ would not be as the file says\./);
    expect(stdout).toContain('  zo: display_name is "zo", not "Zoë"\n');
    expect(await stored(org)).toEqual(before);
  });

  test("is taken if it has the name that an earlier version made up, and the original as its display name", async () => {
    const org = await createOrg();
    await createMember(org, "zo", "Zoe\u0308");
    await clientOf(GroupsService).createGroup({ parentPath: `orgs/${org}`, group: { name: "c", displayName: "C++" } });
    const projects = clientOf(ProjectsService);
    await projects.createProject({ parentPath: `orgs/${org}`, project: { name: "a-io", displayName: "a.io" } });
    const file = { org, admins: ["Zoë"], groups: [{ name: "C++", members: ["ZOË"] }], projects: ["A.IO"] };
    expect((await importFile(file)).end).toBeUndefined();
    expect(await stored(org)).toMatchObject({
      members: ["zo"],
      groups: ["c"],
      projects: ["a-io"],
      memberships: ["c/zo"],
      roleBindings: ["/zo/owner"],
    });
    expect(total(await importFile(file))).toMatchObject({ created: 0 });
  });

  test("may have only the display name: then the import is refused, too", async () => {
    const org = await createOrg();
    await createMember(org, "zkravitz", "Zoë");
    expect(await refusalOf(org, { members: ["Zoë"] })).toContain('may be the member zkravitz (display name "Zoë")');
    await importFile({ org, members: [{ name: "zkravitz", display_name: "Zoë" }, "Zoë"] });
    expect((await stored(org)).members).toEqual(["zkravitz", zoe].toSorted());
  });
});

test("people whose names differ in letters that a name cannot have are two members, in one file and in two", async () => {
  const org = await createOrg();
  await importFile({ org, admins: ["Jürgen Müller"] });
  await importFile({ org, members: ["Jörgen Möller"] });
  await importFile({ org, admins: ["Jürgen Müller"], members: ["Jörgen Möller"] });
  expect(await stored(org)).toMatchObject({
    members: [jurgen, jorgen].toSorted(),
    roleBindings: [`/${jurgen}/owner`],
  });
});

test("an account of an earlier version is not taken for somebody else of a later file", async () => {
  const org = await createOrg();
  await createMember(org, "j-rgen-m-ller", "Jürgen Müller");
  expect(await refusalOf(org, { admins: ["Jörgen Möller"] })).toContain(
    'member "Jörgen Möller": may be the member j-rgen-m-ller (display name "Jürgen Müller")',
  );
  // Both are told apart once the second has an account.
  await importFile({ org, members: [{ name: jorgen, display_name: "Jörgen Möller" }, "Jürgen Müller"] });
  expect((await stored(org)).members).toEqual(["j-rgen-m-ller", jorgen].toSorted());
});

test("groups, projects and orgs whose names differ in such letters are two", async () => {
  const org = await createOrg();
  await importFile({ org, groups: [{ name: "C++" }], projects: ["a.b"] });
  await importFile({ org, groups: [{ name: "C#" }], projects: ["a_b", "a-b"] });
  expect(await stored(org)).toMatchObject({
    groups: [makeUpName("C++"), makeUpName("C#")].toSorted(),
    projects: [makeUpName("a.b"), makeUpName("a_b"), "a-b"].toSorted(),
  });
  const [muller, moller] = ["Müller", "Möller"].map((name) => `${name} ${uniqueName("gmbh")} GmbH`) as [string, string];
  await importFile({ org: muller, admins: ["ann"] });
  await importFile({ org: moller, admins: ["bob"] });
  await importFile({ org: moller, admins: ["bob"] });
  expect((await stored(makeUpName(muller))).members).toEqual(["ann"]);
  expect((await stored(makeUpName(moller))).members).toEqual(["bob"]);
});

describe("an org with the name that an earlier version made up", () => {
  test.each(["Mö", "Mü"])("is left alone, also if its owner has given it a display name with %s", async (start) => {
    const name = uniqueName("m-ller");
    const displayName = name.replace("m-", start);
    await clientOf(OrgsService).createOrg({ org: { name, displayName } });
    expect(await refusalOf(name, { org: name.replace("m-", "Mü"), admins: ["ann"] })).toContain(
      `may be the org ${name} (display name "${displayName}")`,
    );
  });

  test("is taken if the file names it", async () => {
    const name = uniqueName("m-ller");
    await clientOf(OrgsService).createOrg({ org: { name, displayName: name.replace("m-", "Mü") } });
    await importFile({ org: name, members: ["ann"] });
    expect((await stored(name)).members).toEqual(["ann"]);
  });
});

test("a name of the file that equals a made-up one is refused", async () => {
  const org = await createOrg();
  expect(await refusalOf(org, { members: ["Zoë", zoe] })).toContain(
    `member "Zoë": would be the member ${zoe}, as "${zoe}" would; write "${zoe}" for both if they are one`,
  );
});

test("a role of the org that can do more than the file's role is granted to nobody", async () => {
  const org = await createOrg();
  const permissions = ["repos.access.read", "iam.members.create"];
  await clientOf(RolesService).createRole({ parentPath: `orgs/${org}`, role: { name: "read", permissions } });
  const file = { groups: [{ name: "g" }], projects: ["p"], grants: [{ group: "g", project: "p", role: "read" }] };
  expect(await refusalOf(org, file)).toContain(
    `role /orgs/${org}/roles/read: is there already, and also has iam.members.create, which the file does not grant`,
  );
  const role = { permissions: ["repos.access.read"] };
  await clientOf(RolesService).updateRole({ path: `orgs/${org}/roles/read`, role });
  expect((await importFile({ org, ...file })).end).toBeUndefined();
});

test("a role binding of another subject with the name that the import would give is refused before it writes", async () => {
  const org = await createOrg();
  await createMember(org, "eve");
  const roleBinding = { name: "ann-owner", rolePath: "/roles/viewer", subjectPath: `orgs/${org}/members/eve` };
  await clientOf(RoleBindingsService).createRoleBinding({ parentPath: `orgs/${org}`, roleBinding });
  expect(await refusalOf(org, { admins: ["ann"] })).toContain(
    `role binding /orgs/${org}/roleBindings/ann-owner: is there already: member eve has the role viewer on the org (ann-owner)`,
  );
});
