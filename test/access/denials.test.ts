// Tests the errors for callers who lack a permission.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const permission = "iam.projects.create";
const lacks = `the caller lacks the permission ${permission} on this resource`;

/** Where a member of an org asks for access in it. */
const asksIn = (org: string) => ({ access_requests: `${org}/accessRequests` });

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let company: Company;
  let alice: Caller;
  beforeEach(async () => {
    company = await openCompany(protocol, server);
    alice = await company.joinAs("viewer", "alice");
  });

  /** Returns the error for a caller who lacks the permission to create a project. */
  const denialOf = (caller: Caller, parentPath = company.org.path) =>
    failureOf(caller.projects.createProject({ parentPath, project: { name: uniqueName("web") } }));

  const grantAs = (granter: Caller, rolePath: string, parentPath = company.org.path) => {
    const roleBinding = { name: uniqueName("help"), rolePath, subjectPath: alice.path };
    return granter.roleBindings.createRoleBinding({ parentPath, roleBinding });
  };

  test("tells a caller who can see access the missing permission, the smallest role with it, and its grantors", async () => {
    const [olga, adam] = [await company.joinAs("owner", "olga"), await company.joinAs("admin", "adam")];
    await company.joinAs("access-admin", "carl");
    expect(await denialOf(alice)).toMatchObject({
      code: "PermissionDenied",
      reason: "PERMISSION_DENIED",
      message: `${lacks}; the smallest role that holds it is /roles/projects-admin; ${olga.path}, ${adam.path} can grant it`,
      metadata: { permission, role: "/roles/projects-admin", granters: `${olga.path} ${adam.path}` },
    });
  });

  test("tells other callers only the permission, whether or not the resource exists", async () => {
    await company.joinAs("owner");
    const [bob, carol] = [await company.join("bob"), await company.joinAs("projects-admin", "carol")];
    const nothing = { message: `${lacks} (or it might not exist)`, metadata: { permission } };
    expect(await denialOf(bob)).toMatchObject(nothing);
    expect(await denialOf(bob, "/orgs/no-such-org")).toMatchObject(nothing);
    expect(await denialOf(alice, "/orgs/no-such-org")).toMatchObject(nothing);
    expect(await denialOf(alice, "/orgs/system")).toMatchObject(nothing);
    const { message, metadata } = await failureOf(carol.members.listMembers({ parentPath: company.org.path }));
    expect(message).toMatch(/ \(or it might not exist\)$/);
    expect(metadata).toEqual({ permission: "iam.members.list", ...asksIn(company.org.path) });
  });

  test("lists only grantors who can bind this role", async () => {
    const owner = await company.joinAs("owner");
    const binder = await company.joinAs("access-admin", "binder");
    const helper = await company.joinAs("access-admin", "helper");
    await company.bind(company.org.path, "projects-admin", helper);
    const { metadata } = await denialOf(alice);
    expect(metadata["granters"]).toBe(`${owner.path} ${helper.path}`);
    expect(await failureOf(grantAs(binder, "/roles/projects-admin"))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    await grantAs(helper, metadata["role"] ?? "");
    await alice.projects.createProject({ parentPath: company.org.path, project: { name: "web" } });
  });

  test("lists a grantor who does not hold the role but has grantUnheld", async () => {
    const parentPath = company.org.path;
    const permissions = ["iam.roleBindings.create", "iam.roleBindings.grantUnheld"];
    const role = await company.api.roles.createRole({ parentPath, role: { name: "registrar", permissions } });
    const registrar = await company.join("registrar");
    await company.bind(parentPath, role.path, registrar);
    const { metadata } = await denialOf(alice);
    expect(metadata["granters"]).toBe(registrar.path);
    await grantAs(registrar, metadata["role"] ?? "");
  });

  test("names a smaller custom role instead, by its current name", async () => {
    const parentPath = company.org.path;
    const binder = await company.joinAs("access-admin");
    const made = await company.api.roles.createRole({ parentPath, role: { name: "a", permissions: [permission] } });
    await company.bind(parentPath, made.path, binder);
    const role = await company.api.roles.updateRole({ path: made.path, role: { name: "starter" } });
    expect((await denialOf(alice)).metadata).toEqual({
      permission,
      role: role.path,
      granters: binder.path,
      ...asksIn(parentPath),
    });
    expect(role.path).toBe(`${parentPath}/roles/starter`);
  });

  test("lists the first three grantors, or none if the org has none", async () => {
    expect((await denialOf(alice)).message).toBe(`${lacks}; the smallest role that holds it is /roles/projects-admin`);
    const owners: string[] = [];
    for (const name of ["one", "two", "three", "four"]) owners.push((await company.joinAs("owner", name)).path);
    expect((await denialOf(alice)).metadata["granters"]).toBe(owners.slice(0, 3).join(" "));
  });

  test("lists the grantors on a project", async () => {
    const { api, org, bind } = company;
    const [web, shop] = [
      await api.projects.createProject({ parentPath: org.path, project: { name: "web" } }),
      await api.projects.createProject({ parentPath: org.path, project: { name: "shop" } }),
    ];
    const [dave, pat] = [await company.join("dave"), await company.join("pat")];
    await bind(web.path, "viewer", dave);
    await bind(web.path, "owner", pat);
    const update = (path: string) => failureOf(dave.projects.updateProject({ path, project: { displayName: "W" } }));
    expect((await update(web.path)).metadata).toEqual({
      permission: "iam.projects.update",
      role: "/roles/projects-admin",
      granters: pat.path,
      ...asksIn(company.org.path),
    });
    expect((await update(shop.path)).metadata).toEqual({
      permission: "iam.projects.update",
      ...asksIn(company.org.path),
    });
  });

  test("lists a grantor with a condition only where the condition is true", async () => {
    const { api, org, bind } = company;
    const parentPath = org.path;
    const [web, shop] = [
      await api.projects.createProject({ parentPath, project: { name: "web" } }),
      await api.projects.createProject({ parentPath, project: { name: "shop" } }),
    ];
    const pat = await company.joinAs("projects-admin", "pat");
    const condition = `resource.path.startsWith("${web.path}") && subject.path == "${pat.path}"`;
    await bind(parentPath, "access-admin", pat, condition);
    const grantersOn = async (path: string) =>
      (await failureOf(alice.projects.updateProject({ path, project: { displayName: "W" } }))).metadata["granters"];
    expect(await grantersOn(web.path)).toBe(pat.path);
    expect(await grantersOn(shop.path)).toBeUndefined();
    await grantAs(pat, "/roles/projects-admin", web.path);
    expect(await failureOf(grantAs(pat, "/roles/projects-admin", shop.path))).toMatchObject({
      reason: "PERMISSION_DENIED",
    });
  });

  test("does not list a member who holds the role under a condition, because this member cannot grant it", async () => {
    const quinn = await company.joinAs("access-admin", "quinn");
    await company.bind(company.org.path, "owner", quinn, "true");
    expect((await denialOf(alice)).metadata["granters"]).toBeUndefined();
    expect(await failureOf(grantAs(quinn, "/roles/projects-admin"))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  });

  test("agrees with ExplainAccess on the role and the grantors", async () => {
    const { org, bind } = company;
    const owner = await company.joinAs("owner");
    await company.joinAs("access-admin");
    for (const condition of ['resource.path == "/orgs/elsewhere"', "context.trusted"]) {
      const helper = await company.joinAs("projects-admin", uniqueName("helper"));
      await bind(org.path, "access-admin", helper, condition);
    }
    const question = { subjectPath: alice.path, permission, resourcePath: org.path, context: { trusted: true } };
    const explanation = await owner.access.explainAccess(question);
    expect(explanation).toMatchObject({ allowed: false, granterPaths: [owner.path] });
    const { metadata } = await denialOf(alice);
    expect([metadata["role"], metadata["granters"]]).toEqual([explanation.rolePaths[0], owner.path]);
    await company.api.orgs.suspendOrg({ path: org.path });
    expect((await owner.access.explainAccess(question)).granterPaths).toEqual([]);
  });

  test("lists roles and grantors on the customer for another org of the customer", async () => {
    const { api, org, bind } = company;
    const parentPath = org.path;
    await company.joinAs("owner", "olga");
    const boss = await company.join("boss");
    await bind(org.customerPath, "owner", boss);
    await bind(org.customerPath, "viewer", alice);
    await api.roles.createRole({ parentPath, role: { name: "starter", permissions: [permission] } });
    const other = await openCompany(protocol, server, org.customerPath);
    expect((await denialOf(alice, other.org.path)).metadata).toEqual({
      permission,
      role: "/roles/projects-admin",
      granters: boss.path,
    });
    await grantAs(boss, "/roles/projects-admin", org.customerPath);
    await alice.projects.createProject({ parentPath: other.org.path, project: { name: "web" } });
  });
});

test("REST has this in the message and the ErrorInfo of the body", async () => {
  const company = await openCompany("REST", server);
  const [owner, alice] = [await company.joinAs("owner"), await company.joinAs("viewer")];
  const response = await fetch(`${server.url}/iam/v1alpha${company.org.path}/projects`, {
    method: "POST",
    headers: { authorization: `Bearer ${alice.key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "web" }),
  });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({
    error: {
      code: 403,
      status: "PERMISSION_DENIED",
      message: `${lacks}; the smallest role that holds it is /roles/projects-admin; ${owner.path} can grant it`,
      details: expect.arrayContaining([
        expect.objectContaining({
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          metadata: {
            permission,
            role: "/roles/projects-admin",
            granters: owner.path,
            access_requests: expect.stringMatching(/^\/orgs\/[^/]+\/accessRequests$/),
          },
        }),
      ]),
    },
  });
});
