// Tests the lists of subjects and resources with access, which agree with single checks.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const permission = startInstance;

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  /** Members in the order in which they were created, which is that of their ids. */
  const addMembers = async (count: number): Promise<string[]> => {
    const parentPath = place.org.path;
    const requests = Array.from({ length: count }, (_, index) => ({ member: { name: `member-${index}` } }));
    return (await place.api.members.batchCreateMembers({ parentPath, requests })).members.map(({ path }) => path);
  };

  const addProjects = async (count: number): Promise<string[]> => {
    const parentPath = place.org.path;
    const requests = Array.from({ length: count }, (_, index) => ({ project: { name: `project-${index}` } }));
    return (await place.api.projects.batchCreateProjects({ parentPath, requests })).projects.map(({ path }) => path);
  };

  test("lists all members with access page by page, wherever the access comes from", async () => {
    const { api, access, alice, bob, org, sre, web, grant } = place;
    const made = await addMembers(7);
    for (const memberPath of made.slice(0, 5)) {
      await api.groupMembers.createGroupMember({ parentPath: sre, groupMember: { memberPath } });
    }
    await grant(web, sre, "/roles/admin");
    await grant(org.path, made[5] ?? "", "/roles/owner");
    const expected = [alice, ...made.slice(0, 6)];

    const question = { permission, resourcePath: `${web}/instances/db-1` };
    const pages: string[][] = [];
    let pageToken = "";
    do {
      const page = await access.listSubjects({ ...question, pageSize: 3, pageToken });
      pages.push(page.subjectPaths);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(pages).toEqual([expected.slice(0, 3), expected.slice(3, 6), expected.slice(6)]);

    for (const subject of [alice, bob, ...made]) {
      expect([subject, await place.may(subject, web)]).toEqual([subject, expected.includes(subject)]);
    }
  });

  test("does not list suspended members; in a suspended project, lists only members who may activate it", async () => {
    const { api, access, alice, bob, org, web, grant } = place;
    const checker = (await addMembers(1))[0] ?? "";
    await api.roles.createRole({ parentPath: org.path, role: { name: "starter", permissions: [permission] } });
    await grant(web, alice, "/roles/admin");
    await grant(web, bob, "/roles/admin");
    await grant(web, checker, `${org.path}/roles/starter`);
    const list = async () => (await access.listSubjects({ permission, resourcePath: web })).subjectPaths;
    expect(await list()).toEqual([alice, bob, checker]);
    await api.members.suspendMember({ path: bob });
    expect(await list()).toEqual([alice, checker]);
    await api.projects.suspendProject({ path: web });
    expect(await list()).toEqual([alice]);
  });

  test("lists all projects to which a subject has access, page by page", async () => {
    const { access, alice, bob, org, sre, web, grant } = place;
    const made = await addProjects(6);
    for (const project of made.slice(1, 5)) await grant(project, sre, "/roles/admin");
    await grant(made[0] ?? "", bob, "/roles/admin");
    const list = async (subjectPath: string, pageSize: number, pageToken: string) =>
      access.listResources({ subjectPath, permission, parentPath: org.path, pageSize, pageToken });
    const first = await list(alice, 3, "");
    const second = await list(alice, 3, first.nextPageToken);
    expect(first.resourcePaths).toEqual(made.slice(1, 4));
    expect([second.resourcePaths, second.nextPageToken]).toEqual([made.slice(4, 5), ""]);
    expect((await list(sre, 0, "")).resourcePaths).toEqual(made.slice(1, 5));
    await grant(org.path, bob, "/roles/admin");
    expect((await list(bob, 0, "")).resourcePaths).toEqual([web, ...made]);
    expect((await list(`${org.path}/members/zed`, 0, "")).resourcePaths).toEqual([]);
  });

  test("in another org, counts what the subject is granted above it", async () => {
    const { api, access, alice, org, grant } = place;
    const other = await api.orgs.createOrg({ org: { name: `${org.name}-b`, customerPath: org.customerPath } });
    const there = await api.projects.createProject({ parentPath: other.path, project: { name: "there" } });
    const question = { subjectPath: alice, permission, parentPath: other.path };
    await grant(org.path, alice, "/roles/admin");
    expect((await access.listResources(question)).resourcePaths).toEqual([]);
    await grant(org.customerPath, alice, "/roles/admin");
    expect((await access.listResources(question)).resourcePaths).toEqual([there.path]);
  });

  test("accepts a page token only with the request for which it was issued", async () => {
    const { access, alice, org, sre, web, grant } = place;
    const [project = ""] = await addProjects(1);
    await addMembers(1);
    await grant(org.path, alice, "/roles/admin");
    await grant(org.path, place.bob, "/roles/admin");
    const whoMay = { permission, resourcePath: web, context: { zone: "north" }, pageSize: 1 };
    const { nextPageToken: ofSubjects } = await access.listSubjects(whoMay);
    const whatMay = { subjectPath: alice, permission, parentPath: org.path, pageSize: 1 };
    const { nextPageToken: ofResources } = await access.listResources(whatMay);
    expect([ofSubjects, ofResources]).not.toContain("");
    expect((await access.listSubjects({ ...whoMay, pageSize: 5, pageToken: ofSubjects })).subjectPaths).toEqual([
      place.bob,
    ]);
    expect((await access.listResources({ ...whatMay, pageSize: 5, pageToken: ofResources })).resourcePaths).toEqual([
      project,
    ]);
    const refused = [
      () => access.listSubjects({ ...whoMay, permission: "compute.instances.stop", pageToken: ofSubjects }),
      () => access.listSubjects({ ...whoMay, resourcePath: project, pageToken: ofSubjects }),
      () => access.listSubjects({ ...whoMay, context: { zone: "south" }, pageToken: ofSubjects }),
      () => access.listSubjects({ ...whoMay, pageToken: ofResources }),
      () => access.listSubjects({ ...whoMay, pageToken: `${ofSubjects}x` }),
      () => access.listResources({ ...whatMay, subjectPath: sre, pageToken: ofResources }),
      () => access.listResources({ ...whatMay, permission: "compute.instances.stop", pageToken: ofResources }),
      () => access.listResources({ ...whatMay, context: { zone: "north" }, pageToken: ofResources }),
    ];
    for (const call of refused) {
      expect(await failureOf(call())).toMatchObject({ reason: "PAGE_TOKEN_INVALID", fields: ["page_token"] });
    }
  });

  test("refuses a caller who may check access but not list it", async () => {
    const { api, alice, org, web, grant } = place;
    const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "ci" } });
    const access = createAccessClient(protocol, server.url, secret);
    const role = { name: "checker", permissions: ["iam.access.check"] };
    await grant(org.path, alice, (await api.roles.createRole({ parentPath: org.path, role })).path);
    const listSubjects = () => access.listSubjects({ permission, resourcePath: web });
    const listResources = () => access.listResources({ subjectPath: alice, permission, parentPath: org.path });
    const metadata = { permission: "iam.access.list" };
    expect(await failureOf(listSubjects())).toMatchObject({ code: "PermissionDenied", metadata });
    expect(await failureOf(listResources())).toMatchObject({ code: "PermissionDenied", metadata });
    await grant(org.path, alice, "/roles/access-checker");
    expect((await listSubjects()).subjectPaths).toEqual([]);
    expect((await listResources()).resourcePaths).toEqual([]);
  });

  test("refuses a target that cannot be listed, with the reason", async () => {
    const { access, alice, org } = place;
    const nowhere = "/orgs/no-such-org";
    expect(await failureOf(access.listSubjects({ permission, resourcePath: org.customerPath }))).toMatchObject({
      fields: ["resource_path"],
    });
    expect(await failureOf(access.listSubjects({ permission }))).toMatchObject({ fields: ["resource_path"] });
    expect(await failureOf(access.listSubjects({ permission, resourcePath: nowhere }))).toMatchObject({
      code: "NotFound",
    });
    const listIn = (parentPath: string) => access.listResources({ subjectPath: alice, permission, parentPath });
    expect(await failureOf(listIn(nowhere))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(listIn(`${org.path}/projects/web`))).toMatchObject({ fields: ["parent_path"] });
  });
});
