// Tests the three patterns of paths in the specification, exactly as written there.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GroupMember } from "../../gen/iam/v1alpha/group_member_pb.ts";
import type { Member } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols } from "../support/transports.ts";

let server: TestServer;
let api: Api;
let org: { name: string; path: string; id: string };
let alice: Member;

beforeAll(async () => {
  server = await startTestServer();
  api = createApi("Connect", server.url, server.operatorKey);
  org = await createOrgWithGroups();
  await createOrgWithGroups();
  alice = await api.members.getMember({ path: `${org.path}/members/alice` });
});
afterAll(() => server.close());

/** An org with alice in both of its groups and bob in one. */
async function createOrgWithGroups() {
  const created = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const parentPath = created.path;
  for (const name of ["alice", "bob"]) await api.members.createMember({ parentPath, member: { name } });
  for (const name of ["dev", "ops"]) await api.groups.createGroup({ parentPath, group: { name } });
  for (const [group, member] of [
    ["dev", "alice"],
    ["ops", "alice"],
    ["ops", "bob"],
  ]) {
    const groupMember = { memberPath: `orgs/${created.name}/members/${member}` };
    await api.groupMembers.createGroupMember({ parentPath: `${parentPath}/groups/${group}`, groupMember });
  }
  return created;
}

const restGet = async (path: string): Promise<Record<string, unknown>> => {
  const headers = { authorization: `Bearer ${server.operatorKey}` };
  const response = await fetch(`${server.url}/iam/v1alpha/${path}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
};

const paths = (items: unknown): string[] => (items as { path: string }[]).map((item) => item.path);

describe("on REST", () => {
  test("GET orgs/<org_name>/members/<member_name>", async () => {
    expect(await restGet(`orgs/${org.name}/members/alice`)).toEqual({
      path: `/orgs/${org.name}/members/alice`,
      id: alice.id,
      name: "alice",
      display_name: "alice",
      description: "",
      labels: {},
      type: "USER",
      state: "ACTIVE",
      email: "",
      etag: alice.etag,
      create_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      update_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  test("GET orgs/<org_name>/members/@<member_id>, with the @ encoded or not", async () => {
    const byName = await restGet(`orgs/${org.name}/members/alice`);
    expect(await restGet(`orgs/${org.name}/members/@${alice.id}`)).toEqual(byName);
    expect(await restGet(`orgs/${org.name}/members/%40${alice.id}`)).toEqual(byName);
    expect(await restGet(`orgs/@${org.id}/members/@${alice.id.toUpperCase()}`)).toEqual(byName);
    expect(await restGet(`orgs/-/members/@${alice.id}`)).toEqual(byName);
  });

  test("GET orgs/<org_name>/groups/-/members, one item per group and member", async () => {
    const expected = ["dev/members/alice", "ops/members/alice", "ops/members/bob"].map(
      (rest) => `/orgs/${org.name}/groups/${rest}`,
    );
    expect(paths((await restGet(`orgs/${org.name}/groups/-/members`))["members"])).toEqual(expected);
    expect(paths((await restGet(`orgs/@${org.id}/groups/-/members`))["members"])).toEqual(expected);
    const everywhere = paths((await restGet("orgs/-/groups/-/members"))["members"]);
    expect(everywhere).toHaveLength(6);
    expect(everywhere.slice(0, 3)).toEqual(expected);
    const dev = paths((await restGet("orgs/-/groups/dev/members"))["members"]);
    expect(dev).toEqual(everywhere.filter((path) => path.includes("/groups/dev/")));
  });
});

describe.each(protocols)("over %s", (protocol) => {
  let own: Api;
  beforeAll(() => {
    own = createApi(protocol, server.url, server.operatorKey);
  });

  test("a member is found by its name and by its id", async () => {
    for (const path of [
      `/orgs/${org.name}/members/alice`,
      `orgs/${org.name}/members/@${alice.id}`,
      `orgs/-/members/@${alice.id}`,
    ]) {
      expect(await own.members.getMember({ path })).toEqual(alice);
    }
  });

  test("the members of all groups are listed page by page, in one order, each once", async () => {
    for (const parentPath of [`orgs/${org.name}/groups/-`, `orgs/@${org.id}/groups/-`, "orgs/-/groups/-"]) {
      const whole = await own.groupMembers.listGroupMembers({ parentPath, pageSize: 1000 });
      expect(whole.nextPageToken).toBe("");
      const pieced: GroupMember[] = [];
      let pageToken = "";
      do {
        const page = await own.groupMembers.listGroupMembers({ parentPath, pageSize: 2, pageToken });
        pieced.push(...page.members);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(pieced).toEqual(whole.members);
      expect(new Set(paths(pieced)).size).toBe(pieced.length);
    }
  });
});
