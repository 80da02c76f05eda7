// Lists are filtered by the paths of what their rows refer to: by those that they show, by ids, and by nothing else.
import { beforeAll, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { sharedServer } from "../support/shared-server.ts";

let api: Api;
let org: string;
/** The path of the org and of its members, groups and roles with ids in place of names. */
let withIds: ReadonlyMap<string, string>;

beforeAll(async () => {
  const server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  const [acme, other] = [await makeOrg(), await makeOrg()];
  org = acme.path;
  const named = acme.made.map(
    ({ path, id }) => [path, path.replace(org, `/orgs/@${acme.id}`).replace(/[^/]+$/, `@${id}`)] as const,
  );
  withIds = new Map(named);
  // Those of the same names in another org are in none of these lists.
  expect(other.made).toHaveLength(acme.made.length);
  await api.members.deleteMember({ path: `${org}/members/dora` });
});

/** Makes an org in which everybody and everything refers to each other. */
async function makeOrg() {
  const { path, id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const made: { readonly path: string; readonly id: string }[] = [];
  for (const name of ["alice", "bob", "dora"])
    made.push(await api.members.createMember({ parentPath: path, member: { name } }));
  for (const name of ["sre", "ops"]) made.push(await api.groups.createGroup({ parentPath: path, group: { name } }));
  made.push(
    await api.roles.createRole({ parentPath: path, role: { name: "viewer", permissions: ["iam.members.get"] } }),
  );
  await api.groupMembers.createGroupMember({
    parentPath: `${path}/groups/ops`,
    groupMember: { memberPath: `${path}/members/bob` },
  });
  await api.groupMembers.createGroupMember({
    parentPath: `${path}/groups/sre`,
    groupMember: { memberPath: `${path}/members/bob` },
  });
  await api.groupMembers.createGroupMember({
    parentPath: `${path}/groups/sre`,
    groupMember: { memberPath: `${path}/members/alice` },
  });
  await api.groupMembers.createSubgroup({
    parentPath: `${path}/groups/sre`,
    subgroup: { groupPath: `${path}/groups/ops` },
  });
  for (const subject of ["members/alice", "members/bob", "members/dora", "groups/sre"]) {
    for (const rolePath of ["/roles/viewer", `${path}/roles/viewer`]) {
      await api.roleBindings.createRoleBinding({
        parentPath: path,
        roleBinding: { name: uniqueName("binding"), subjectPath: `${path}/${subject}`, rolePath },
      });
    }
  }
  return { path, id, made };
}

type Row = Readonly<Record<"path", string>> & Readonly<Record<string, unknown>>;

const lists: Readonly<
  Record<
    string,
    { readonly field: string; readonly shown: string; readonly list: (filter: string) => Promise<readonly object[]> }
  >
> = {
  "role bindings by their subject": {
    field: "subject_path",
    shown: "subjectPath",
    list: async (filter) => (await api.roleBindings.listRoleBindings({ parentPath: org, filter })).roleBindings,
  },
  "role bindings by their role": {
    field: "role_path",
    shown: "rolePath",
    list: async (filter) => (await api.roleBindings.listRoleBindings({ parentPath: org, filter })).roleBindings,
  },
  "memberships of all groups by the member": {
    field: "member_path",
    shown: "memberPath",
    list: async (filter) =>
      (await api.groupMembers.listGroupMembers({ parentPath: `${org}/groups/-`, filter })).members,
  },
  "groups in all groups by the group": {
    field: "group_path",
    shown: "groupPath",
    list: async (filter) => (await api.groupMembers.listSubgroups({ parentPath: `${org}/groups/-`, filter })).subgroups,
  },
};

test.each(Object.entries(lists))("%s", async (_, { field, shown, list }) => {
  const find = async (filter: string) => ((await list(filter)) as readonly Row[]).map(({ path }) => path);
  const all = (await list("")) as readonly Row[];
  const paths = all.map(({ path }) => path);
  const values = new Set(all.map((row) => String(row[shown])));
  expect(values.size).toBeGreaterThan(0);
  for (const value of values) {
    const those = all.filter((row) => row[shown] === value).map(({ path }) => path);
    const others = paths.filter((path) => !those.includes(path));
    for (const text of [value, withIds.get(value) ?? value]) {
      const quoted = JSON.stringify(text);
      expect(await find(`${field} = ${quoted}`), text).toEqual(those);
      expect(await find(`${field} != ${quoted}`), text).toEqual(others);
      expect(await find(`NOT ${field} = ${quoted}`), text).toEqual(others);
      // A part of a text is looked for as before.
      if (text === value) expect(await find(`${field}:${quoted}`)).toEqual(expect.arrayContaining(those));
    }
  }
  const either = [...values].slice(0, 2).map((value) => JSON.stringify(value));
  const expected = all.filter((row) => either.includes(JSON.stringify(row[shown]))).map(({ path }) => path);
  expect(await find(`${field} = (${either.join(" OR ")})`)).toEqual(expected);
  const [some = ""] = values;
  const strange = [
    "",
    "/",
    "/orgs",
    some.slice(1),
    `${some}/`,
    some.toUpperCase(),
    some.replace(/[^/]+$/, "@nobody"),
    some.replace(/[^/]+$/, "carol"),
  ];
  for (const text of strange) {
    expect(await find(`${field} = ${JSON.stringify(text)}`), text).toEqual([]);
    expect(await find(`${field} != ${JSON.stringify(text)}`), text).toEqual(paths);
  }
});
