// Tests access checks, single and in batches, over REST and gRPC.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ListResourcesRequest_Kind } from "../../gen/iam/v1alpha/access_pb.ts";
import { type AccessPlace, createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { numberOf } from "../../src/changes/revision.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const permission = startInstance;
const nobody = "@01990000-0000-7000-8000-00000000dead";

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  test("a subject with a role has its permissions on the resource of the grant and below", async () => {
    const { alice, bob, org, web, grant, may } = place;
    expect(await may(alice, web)).toBe(false);
    await grant(web, alice, "/roles/admin");
    expect(await may(alice, web)).toBe(true);
    expect(await may(alice, `${web}/instances/db-1`)).toBe(true);
    expect(await may(alice, org.path)).toBe(false);
    expect(await may(bob, web)).toBe(false);
    await grant(org.path, bob, "/roles/admin");
    expect(await may(bob, web)).toBe(true);
    expect(await may(bob, `${org.path}/buckets/logs`)).toBe(true);
    expect(await may(bob, org.customerPath)).toBe(false);
  });

  test("a grant on the customer counts in all its orgs, and not on the platform", async () => {
    const { api, alice, org, web, grant, may } = place;
    const other = await api.orgs.createOrg({ org: { name: `${org.name}-b`, customerPath: org.customerPath } });
    await grant(org.customerPath, alice, "/roles/admin");
    expect(await may(alice, org.customerPath)).toBe(true);
    expect(await may(alice, web)).toBe(true);
    expect(await may(alice, other.path)).toBe(true);
    expect(await may(alice, "")).toBe(false);
    expect(await may(alice, "/orgs/system")).toBe(false);
  });

  test("a grant on the platform counts everywhere", async () => {
    const { org, web, may } = place;
    for (const resource of ["", "/", org.customerPath, org.path, web, "/roles/admin", "/roleBindings/x"]) {
      expect(await may("/orgs/system/members/operator", resource)).toBe(true);
    }
  });

  test("a resource outside of orgs and customers can be accessed only by a grant on the platform, whether or not it exists", async () => {
    const { alice, org, grant, may } = place;
    await grant(org.path, alice, "/roles/owner");
    for (const resource of [
      "/services/compute",
      "services/compute",
      `/services/${nobody}`,
      "/services/compute/resourceTypes/instances",
      "/quantityKinds/cpu_cores",
      "/qualityKinds/iso_27001",
    ]) {
      expect([resource, await may(alice, resource)]).toEqual([resource, false]);
      expect([resource, await may("/orgs/system/members/operator", resource)]).toEqual([resource, true]);
    }
  });

  test.each([
    [
      "/service/compute",
      'must be empty or start with "/orgs/", "/customers/", "/qualityKinds/", "/quantityKinds/", "/services/", "/roles/", "/roleBindings/"',
    ],
    ["/services/Compute", "segment 2, the service, must be a name"],
    [
      "/quantityKinds/cpu-cores",
      'segment 2, the quantityKind, must be a name (1 to 63 lowercase letters, digits and underscores, with a letter first) or @<id>, got "cpu-cores"',
    ],
    ["/services/-", 'segment 2 must name one service: "-" stands for all of them'],
    ["/roles/Owner", "segment 2, the role, must be a name"],
  ])("%s is not a resource", async (resourcePath, description) => {
    const failure = await failureOf(place.may(place.alice, resourcePath));
    expect(failure).toMatchObject({ code: "InvalidArgument", reason: "PATH_INVALID", fields: ["resource_path"] });
    expect(failure.message).toContain(`resource_path: ${description}`);
  });

  test("a permission of this service that does not exist is refused, and the error names the nearest", async () => {
    const { access, api, alice, org, web, grant } = place;
    await grant(org.path, alice, "/roles/owner");
    const [misspelt, known] = ["iam.member.get", "iam.members.get"];
    const check = { subjectPath: alice, permission: misspelt, resourcePath: web };
    const lists = { permission: misspelt, subjectPath: alice, parentPath: org.path };
    const calls: [() => Promise<unknown>, string][] = [
      [() => access.checkAccess(check), "permission"],
      [() => access.checkAccess({ ...check, subjectPath: `${org.path}/members/zed` }), "permission"],
      [() => access.batchCheckAccess({ checks: [{ ...check, permission: known }, check] }), "checks[1].permission"],
      [() => access.listSubjects({ permission: misspelt, resourcePath: web }), "permission"],
      [() => access.listResources(lists), "permission"],
      [() => access.listResources({ ...lists, kind: ListResourcesRequest_Kind.RESOURCE }), "permission"],
      [() => access.testPermissions({ resourcePath: web, permissions: [known, misspelt] }), "permissions[1]"],
    ];
    for (const [call, field] of calls) {
      const failure = await failureOf(call());
      expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [field] });
      expect(failure.message).toContain("there is no iam.member.get; the nearest is iam.members.get; ");
    }
    // It says nothing to callers who may not ask about the org.
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "key" } });
    const asAlice = createAccessClient(protocol, server.url, secret);
    const elsewhere = { ...check, subjectPath: "/orgs/system/members/operator" };
    expect(await asAlice.checkAccess(elsewhere)).toMatchObject({ allowed: false, revision: "" });
  });

  test("a member has the access of its groups, and of the groups in which these are nested", async () => {
    const { api, alice, bob, org, sre, web, grant, may } = place;
    const staff = await api.groups.createGroup({ parentPath: org.path, group: { name: "staff" } });
    await api.groupMembers.createSubgroup({ parentPath: staff.path, subgroup: { groupPath: sre } });
    await grant(web, staff.path, "/roles/admin");
    expect(await may(alice, web)).toBe(true);
    expect(await may(bob, web)).toBe(false);
    await api.groupMembers.deleteSubgroup({ path: `${staff.path}/subgroups/sre` });
    expect(await may(alice, web)).toBe(false);
  });

  test("a group can be checked, too", async () => {
    const { alice, org, sre, web, grant, may } = place;
    await grant(web, sre, "/roles/admin");
    expect(await may(sre, web)).toBe(true);
    expect(await may(sre, org.path)).toBe(false);
    await grant(org.path, alice, "/roles/admin");
    expect(await may(sre, org.path)).toBe(false);
  });

  test("the subject and the resource can be given by id, which stays valid after a rename", async () => {
    const { api, org, alice, web, grant, may } = place;
    await grant(web, alice, "/roles/admin");
    const member = await api.members.getMember({ path: alice });
    const project = await api.projects.getProject({ path: web });
    const byId = `/orgs/@${org.id}/members/@${member.id}`;
    const webById = `/orgs/@${org.id}/projects/@${project.id}`;
    expect(await may(byId, webById)).toBe(true);
    await api.members.updateMember({ path: alice, member: { name: "alison" }, updateMask: { paths: ["name"] } });
    await api.projects.updateProject({ path: web, project: { name: "site" }, updateMask: { paths: ["name"] } });
    expect(await may(byId, `${webById}/instances/db-1`)).toBe(true);
    expect(await may(`${org.path}/members/alison`, `${org.path}/projects/site`)).toBe(true);
    expect(await may(alice, webById)).toBe(false);
    expect(await may(byId, web)).toBe(false);
  });

  test("in a project that does not exist, also by a former name, nobody has access by a grant in the org or above it", async () => {
    const { api, access, org, alice, bob, web, grant, may } = place;
    await grant(org.path, alice, "/roles/admin");
    await grant(org.customerPath, bob, "/roles/admin");
    const contents = `${web}/instances/db-1`;
    expect([await may(alice, contents), await may(bob, contents)]).toEqual([true, true]);
    await api.projects.suspendProject({ path: web });
    const { id } = await api.projects.updateProject({ path: web, project: { name: "site" } });
    for (const path of [web, contents, `${org.path}/projects/none`, `${org.path}/projects/${nobody}/instances/db-1`]) {
      expect([await may(alice, path), await may(bob, path)], path).toEqual([false, false]);
      const asked = { permission: startInstance, resourcePath: path };
      expect((await access.listSubjects(asked)).subjectPaths, path).toEqual([]);
    }
    await api.projects.activateProject({ path: `${org.path}/projects/site` });
    expect(await may(alice, `${org.path}/projects/site/instances/db-1`)).toBe(true);
    await api.projects.deleteProject({ path: `${org.path}/projects/site` });
    expect(await may(alice, `${org.path}/projects/site`)).toBe(false);
    // Who may restore it is asked about its id.
    expect(await may(alice, `/orgs/@${org.id}/projects/@${id}`)).toBe(true);
  });

  test("a missing subject has no access", async () => {
    const { org, web, grant, may } = place;
    await grant(org.path, `${org.path}/members/alice`, "/roles/owner");
    for (const subject of [
      `${org.path}/members/zed`,
      `${org.path}/members/${nobody}`,
      `${org.path}/groups/zed`,
      `/orgs/${nobody}/members/alice`,
      `/orgs/no-such-org/members/alice`,
    ]) {
      expect(await may(subject, web)).toBe(false);
    }
  });

  test("a member who is suspended or deleted, or whose org is suspended, has no access", async () => {
    const { api, alice, bob, org, web, grant, may } = place;
    await grant(web, alice, "/roles/admin");
    await grant(web, bob, "/roles/admin");
    await api.members.suspendMember({ path: alice });
    expect(await may(alice, web)).toBe(false);
    await api.members.activateMember({ path: alice });
    expect(await may(alice, web)).toBe(true);
    await api.orgs.suspendOrg({ path: org.path });
    expect(await may(bob, web)).toBe(false);
    await api.orgs.activateOrg({ path: org.path });
    await api.members.deleteMember({ path: bob });
    expect(await may(bob, web)).toBe(false);
  });

  test("each write increases the revision in the responses", async () => {
    const { access, alice, web, grant } = place;
    const question = { subjectPath: alice, permission, resourcePath: web };
    const revisions = [];
    for (let round = 0; round < 3; round++) {
      revisions.push(numberOf((await access.checkAccess(question)).revision));
      await grant(web, alice, "/roles/viewer");
    }
    const [first = 0n] = revisions;
    expect(revisions).toEqual([first, first + 1n, first + 2n]);
  });

  test("a caller needs iam.access.check on the checked resource", async () => {
    const { api, alice, bob, org, web, grant } = place;
    const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "ci" } });
    const access = createAccessClient(protocol, server.url, secret);
    const question = { subjectPath: bob, permission, resourcePath: web };
    expect(await failureOf(access.checkAccess(question))).toMatchObject({
      code: "PermissionDenied",
      metadata: { permission: "iam.access.check" },
    });
    await grant(web, alice, "/roles/access-checker");
    await grant(web, bob, "/roles/admin");
    expect((await access.checkAccess(question)).allowed).toBe(true);
    const elsewhere = { ...question, resourcePath: org.path };
    expect(await failureOf(access.checkAccess(elsewhere))).toMatchObject({ code: "PermissionDenied" });
    const mixed = access.batchCheckAccess({ checks: [question, elsewhere] });
    expect(await failureOf(mixed)).toMatchObject({ code: "PermissionDenied" });
    expect((await access.batchCheckAccess({ checks: [question] })).results.map(({ allowed }) => allowed)).toEqual([
      true,
    ]);
  });

  test("the error for an invalid check names the field", async () => {
    const { access, alice, web } = place;
    const good = { subjectPath: alice, permission, resourcePath: web };
    const cases: readonly [Partial<typeof good>, field: string, message: RegExp][] = [
      [{ subjectPath: "alice" }, "subject_path", /forms orgs\/\{org\}\/members\/\{member\}, orgs\/\{org\}\/groups/],
      [{ subjectPath: web }, "subject_path", /forms/],
      [{ subjectPath: `${alice}!` }, "subject_path", /segment 4, the member/],
      [{ subjectPath: alice.replace(/alice$/, "-") }, "subject_path", /-/],
      [{ resourcePath: "web" }, "resource_path", /start with/],
      [{ resourcePath: `${web}/instances/` }, "resource_path", /segment 6/],
      [{ resourcePath: `${web}/../secret` }, "resource_path", /segment 5/],
      [{ resourcePath: `${web}/${"x".repeat(1024)}` }, "resource_path", /1024/],
      [{ permission: "start" }, "permission", /./],
    ];
    for (const [wrong, field, message] of cases) {
      const alone = await failureOf(access.checkAccess({ ...good, ...wrong }));
      expect({ wrong, ...alone }).toMatchObject({ wrong, code: "InvalidArgument", fields: [field] });
      expect(alone.message).toMatch(message);
      const inBatch = access.batchCheckAccess({ checks: [good, good, good, { ...good, ...wrong }] });
      expect({ wrong, ...(await failureOf(inBatch)) }).toMatchObject({
        wrong,
        code: "InvalidArgument",
        fields: [`checks[3].${field}`],
      });
    }
  });

  test("a batch of 1000 is answered in the order of the request, and one of 1001 is refused", async () => {
    const { access, alice, bob, org, sre, web, grant } = place;
    await grant(web, sre, "/roles/admin");
    const subjects = [alice, bob, sre, `${org.path}/members/zed`, alice];
    const resources = [web, `${web}/instances/db-1`, org.path];
    const checks = Array.from({ length: 1000 }, (_, index) => ({
      subjectPath: subjects[index % subjects.length] ?? "",
      permission,
      resourcePath: resources[index % resources.length] ?? "",
    }));
    const { results } = await access.batchCheckAccess({ checks });
    const expected = checks.map(
      ({ subjectPath, resourcePath }) => [alice, sre].includes(subjectPath) && resourcePath !== org.path,
    );
    expect(results.map(({ allowed }) => allowed)).toEqual(expected);
    expect(new Set(results.map(({ revision }) => revision)).size).toBe(1);
    const [check] = checks;
    const tooMany = access.batchCheckAccess({ checks: [...checks, check ?? {}] });
    expect(await failureOf(tooMany)).toMatchObject({ code: "InvalidArgument", fields: ["checks"] });
    expect(await failureOf(access.batchCheckAccess({}))).toMatchObject({ code: "InvalidArgument", fields: ["checks"] });
  });

  test("any caller can test which of some permissions it holds itself", async () => {
    const { api, alice, org, web, grant } = place;
    const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "ci" } });
    const access = createAccessClient(protocol, server.url, secret);
    const permissions = ["iam.projects.get", permission, "iam.projects.update", "iam.orgs.delete", "iam.projects.list"];
    const held = async (resourcePath: string) =>
      (await access.testPermissions({ resourcePath, permissions })).permissions;
    expect(await held(web)).toEqual([]);
    await grant(web, alice, "/roles/viewer");
    expect(await held(web)).toEqual(["iam.projects.get", "iam.projects.list"]);
    expect(await held(`${web}/instances/db-1`)).toEqual(["iam.projects.get", "iam.projects.list"]);
    expect(await held(org.path)).toEqual([]);
    expect(await held("")).toEqual([]);
    await grant(web, alice, "/roles/admin");
    expect(await held(web)).toEqual(permissions.filter((each) => each !== "iam.orgs.delete"));
    expect(await failureOf(access.testPermissions({ resourcePath: web }))).toMatchObject({ fields: ["permissions"] });
    const tooMany = Array.from({ length: 1001 }, () => permission);
    expect(await failureOf(access.testPermissions({ resourcePath: web, permissions: tooMany }))).toMatchObject({
      fields: ["permissions"],
    });
  });
});

test("a caller gets current results about its own org, too", async () => {
  const { api, alice, bob, org, web, grant } = await createAccessPlace("Connect", server.url, server.operatorKey);
  const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "ci" } });
  const own = createAccessClient("Connect", server.url, secret);
  await grant(org.path, alice, "/roles/access-checker");
  const question = { subjectPath: bob, permission, resourcePath: web };
  let last = 0n;
  for (let round = 0; round < rounds(5, 1_000); round++) {
    const path = await grant(web, bob, "/roles/admin");
    const during = await own.checkAccess(question);
    await api.roleBindings.deleteRoleBinding({ path });
    const after = await own.checkAccess(question);
    expect([during.allowed, after.allowed]).toEqual([true, false]);
    expect(numberOf(during.revision)).toBeGreaterThan(last);
    last = numberOf(after.revision);
  }
});
