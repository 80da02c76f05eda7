// What the file of an org has, and who gets one.
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Company, openCompany } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport, protocols } from "../support/transports.ts";

let server: SharedServer;
let company: Company;
let org: string;

const exportAs = (key: string, protocol: Protocol = "Connect", path = org) =>
  createClient(OrgFilesService, createTransport(protocol, server.url, key)).exportOrg({ path });

beforeAll(async () => {
  server = await sharedServer();
  company = await openCompany("gRPC", server);
  org = company.org.path;
  const { api } = company;
  await api.orgs.updateOrg({ path: org, org: { displayName: "Acme Ltd", labels: { b: "2", a: "1" } } });
  await api.members.createMember({ parentPath: org, member: { name: "bob", displayName: "Bob B." } });
  await api.members.createMember({ parentPath: org, member: { name: "bot", type: Member_Type.APPLICATION } });
  await api.members.createMember({ parentPath: org, member: { name: "alice" } });
  await api.members.createMember({ parentPath: org, member: { name: "gone" } });
  const role = await api.roles.createRole({
    parentPath: org,
    role: { name: "deployer", permissions: ["shop.pods.write", "shop.pods.read"] },
  });
  for (const name of ["ops", "dev"]) await api.groups.createGroup({ parentPath: org, group: { name } });
  await api.groupMembers.createSubgroup({
    parentPath: `${org}/groups/dev`,
    subgroup: { groupPath: `${org}/groups/ops` },
  });
  const expireTime = { seconds: 4_102_444_800n, nanos: 0 };
  const join = { parentPath: `${org}/groups/ops` };
  await api.groupMembers.createGroupMember({ ...join, groupMember: { memberPath: `${org}/members/bob`, expireTime } });
  await api.groupMembers.createGroupMember({ ...join, groupMember: { memberPath: `${org}/members/alice` } });
  const project = await api.projects.createProject({ parentPath: org, project: { name: "web" } });
  const bind = async (
    parentPath: string,
    name: string,
    rolePath: string,
    subject: string,
    condition = "",
  ): Promise<void> => {
    const roleBinding = { name, rolePath, subjectPath: `${org}/${subject}`, condition };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  };
  await bind(project.path, "ops-deploy", role.path, "groups/ops");
  await bind(org, "alice-owns", "/roles/owner", "members/alice", "context.onCall");
  await bind(org, "gone-reads", "/roles/viewer", "members/gone");
  await api.members.deleteMember({ path: `${org}/members/gone` });
});

const expected = () => {
  const { name } = company.org;
  return {
    org: name,
    display_name: "Acme Ltd",
    labels: { a: "1", b: "2" },
    members: ["alice", { name: "bob", display_name: "Bob B." }, { name: "bot", type: "APPLICATION" }],
    roles: [{ name: "deployer", permissions: ["shop.pods.read", "shop.pods.write"] }],
    groups: [
      { name: "dev", subgroups: ["ops"] },
      {
        name: "ops",
        members: ["alice", { member_path: `/orgs/${name}/members/bob`, expire_time: "2100-01-01T00:00:00Z" }],
      },
    ],
    projects: [
      {
        name: "web",
        role_bindings: [
          { name: "ops-deploy", role_path: `/orgs/${name}/roles/deployer`, subject_path: `/orgs/${name}/groups/ops` },
        ],
      },
    ],
    role_bindings: [
      {
        name: "alice-owns",
        role_path: "/roles/owner",
        subject_path: `/orgs/${name}/members/alice`,
        condition: "context.onCall",
      },
    ],
  };
};

describe("a file", () => {
  test.each(protocols)("has what is in the org and not deleted, in one order, over %s", async (protocol) => {
    const { orgFile: file, revision } = await exportAs(server.operatorKey, protocol);
    expect(file).toEqual(expected());
    expect(JSON.stringify(file)).toBe(JSON.stringify(expected()));
    const { revision: head } = await company.api.projects.listProjects({ parentPath: org, pageSize: 1 });
    expect(revision).toBe(head);
  });

  test("is read over REST at the org, by name or id, and is the same", async () => {
    const read = async (path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${server.operatorKey}` };
      const response = await fetch(`${server.url}/iam/v1alpha/${path}:export`, { headers });
      return ((await response.json()) as { readonly org_file: unknown }).org_file;
    };
    const [byName, byId] = [await read(`orgs/${company.org.name}`), await read(`orgs/@${company.org.id}`)];
    expect(byName).toEqual(expected());
    expect(JSON.stringify(byId)).toBe(JSON.stringify(byName));
  });

  test("has no secret, also where a member has an API key", async () => {
    const { secret = "", prefix } = await company.api.apiKeys.createApiKey({
      parentPath: `${org}/members/bot`,
      apiKey: { name: "ci" },
    });
    const text = JSON.stringify(await exportAs(server.operatorKey));
    expect(text.includes(secret) || text.includes(prefix)).toBe(false);
  });
});

describe("a file is for who may read all that is in it", () => {
  let other: Company;
  beforeAll(async () => {
    other = await openCompany("Connect", server);
  });

  test.each(["viewer", "editor", "access-admin", "admin", "owner"])("%s gets it", async (role) => {
    const caller = await other.joinAs(role, `has-${role}`);
    expect((await exportAs(caller.key, "Connect", other.org.path)).orgFile?.["org"]).toBe(other.org.name);
  });

  test("others are refused, whether or not there is such an org", async () => {
    const stranger = await other.joinAs("owner", "stranger");
    const refused = await failureOf(exportAs(stranger.key));
    const missing = await failureOf(exportAs(stranger.key, "Connect", "/orgs/no-such-org"));
    expect([refused.reason, missing.reason]).toEqual(["PERMISSION_DENIED", "PERMISSION_DENIED"]);
  });

  test("who may export and not list one of the kinds is refused by that list", async () => {
    const { api } = other;
    const permissions = [
      ["orgs", "export"],
      ["orgs", "get"],
      ...["members", "roles", "groups", "projects", "subgroups", "groupMembers"].map((each) => [each, "list"]),
    ].map(([collection, verb]) => `iam.${collection}.${verb}`);
    const role = await api.roles.createRole({ parentPath: other.org.path, role: { name: "part", permissions } });
    const caller = await other.join("partly");
    await other.bind(other.org.path, role.path, caller);
    const failure = await failureOf(exportAs(caller.key, "Connect", other.org.path));
    expect([failure.reason, failure.metadata["permission"]]).toEqual(["PERMISSION_DENIED", "iam.roleBindings.list"]);
  });

  test("who may not see what is in a suspended project is refused, and not given a part", async () => {
    const { api, org: theirs } = await openCompany("Connect", server);
    const project = await api.projects.createProject({ parentPath: theirs.path, project: { name: "old" } });
    const { path: subjectPath } = await api.members.createMember({ parentPath: theirs.path, member: { name: "vera" } });
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "ci" } });
    const roleBinding = { name: "v", rolePath: "/roles/viewer", subjectPath };
    await api.roleBindings.createRoleBinding({ parentPath: theirs.path, roleBinding });
    await api.roleBindings.createRoleBinding({ parentPath: project.path, roleBinding });
    await api.projects.suspendProject({ path: project.path });
    const failure = await failureOf(exportAs(secret, "Connect", theirs.path));
    expect(failure.reason).toBe("PERMISSION_DENIED");
    const whole = await exportAs(server.operatorKey, "Connect", theirs.path);
    expect(JSON.stringify(whole.orgFile)).toContain('"role_bindings":[{"name":"v"');
  });
});
