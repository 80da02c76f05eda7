// What a plan has, and what an apply makes of it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Company, openCompany } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { rounds } from "../support/rounds.ts";
import { type Protocol, protocols } from "../support/transports.ts";
import { type Files, all, filesOf } from "./files.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** An org with an owner, and the files of it as that owner. */
async function openOrg(): Promise<Company & { readonly files: Files; readonly key: string; readonly name: string }> {
  const company = await openCompany("Connect", server);
  const { key } = await company.joinAs("owner", "olive");
  const { path, name } = company.org;
  return { ...company, key, name, files: filesOf(path, server.url, key) };
}

const acme = async (org: string): Promise<JsonObject> => ({
  ...(parse(await readFile(join(import.meta.dirname, "../../examples/acme.yaml"), "utf8")) as JsonObject),
  org,
});

describe.each(rounds<readonly Protocol[]>(["REST"], protocols))("over %s", (protocol) => {
  test("the example is planned, applied whole, and then there is nothing to do", async () => {
    const { org, key, name, api } = await openOrg();
    const files = filesOf(org.path, server.url, key, protocol);
    const file = await acme(name);
    const before = await files.export();
    const { lines, obstacles, unlistedPaths } = await files.plan(file);
    expect(obstacles).toEqual([]);
    expect(unlistedPaths.map((each) => each.split("/").slice(3).join("/"))).toEqual([
      "members/olive",
      expect.stringMatching(/^roleBindings\/binding/),
    ]);
    expect(lines).toContain("UPDATE  display_name description");
    expect(lines).toContain("CREATE members/zoe");
    expect(lines).toContain("CREATE groups/engineering/subgroups/platform");
    expect(lines).toContain("CREATE projects/web-shop/roleBindings/shop-write");
    expect(await files.export()).toEqual(before);
    expect((await files.apply(file)).changeCount).toBe(lines.length);
    expect((await files.plan(file)).lines).toEqual([]);
    const after = await files.export();
    expect((await files.plan(after, all)).lines).toEqual([]);
    const { members } = await api.groupMembers.listGroupMembers({ parentPath: `${org.path}/groups/-` });
    expect(members.map((each) => each.path.replace(org.path, ""))).toContain("/groups/on-call/members/deployer");
  });
});

describe("a file", () => {
  test("changes what differs, replaces what cannot be changed, and leaves the rest", async () => {
    const { files, name, api, org } = await openOrg();
    await files.apply(await acme(name));
    const file = await files.export();
    const text = JSON.stringify(file)
      .replace('"Carol Danvers"', '"Carol D."')
      .replace(`"subject_path":"/orgs/${name}/groups/shop"`, `"subject_path":"/orgs/${name}/groups/finance"`)
      .replace(
        '"members":["bob","deployer"]',
        '"members":["bob",{"member_path":"/orgs/NAME/members/deployer","expire_time":"2100-01-01T00:00:00Z"}]',
      )
      .replace("NAME", name);
    const wanted = JSON.parse(text) as JsonObject;
    const { lines } = await files.plan(wanted);
    expect(lines).toEqual([
      "UPDATE members/carol display_name",
      "UPDATE groups/on-call/members/deployer expire_time",
      "REPLACE projects/web-shop/roleBindings/shop-write subject_path",
    ]);
    await files.apply(wanted);
    expect(await files.export()).toEqual(wanted);
    const { changes } = await api.changes.listChanges({ parentPath: org.path, pageSize: 5 });
    const change = changes.find(({ method }) => !method.endsWith("/ListChanges"));
    expect([change?.method, change?.actorPath]).toEqual([
      "iam.v1alpha.RoleBindingsService/BatchCreateRoleBindings",
      `${org.path}/members/olive`,
    ]);
  });

  test("that is pruned removes what it does not have, but for the author, owners and what makes them so", async () => {
    const { files, name } = await openOrg();
    await files.apply(await acme(name));
    const { unlistedPaths, lines } = await files.plan({ org: name, members: ["alice"] }, all);
    expect(unlistedPaths.map((path) => path.split("/").slice(3).join("/"))).toEqual([
      "members/olive",
      "members/wile",
      expect.stringMatching(/^roleBindings\/binding/),
      "roleBindings/wile-owner",
    ]);
    // What is in a group, and what refers to it, goes with it.
    expect(lines).toContain("DELETE groups/platform");
    expect(lines.filter((line) => line.startsWith("DELETE groups/platform/"))).toEqual([]);
    await files.apply({ org: name, members: ["alice"] }, all);
    const left = await files.export();
    expect(Object.keys(left)).toEqual(["org", "members", "role_bindings"]);
    expect(left["members"]).toEqual(["alice", "olive", "wile"]);
  });

  test("keeps who owns the org through a group in a group, with what leads there", async () => {
    const { files, name, org } = await openOrg();
    const owners = { name: "owners", role_path: "/roles/owner", subject_path: `${org.path}/groups/board` };
    await files.apply({
      org: name,
      members: ["alice", "mallory"],
      groups: [
        { name: "board", subgroups: ["chairs"] },
        { name: "chairs", members: ["alice"] },
        { name: "guests", members: ["mallory"] },
      ],
      role_bindings: [owners],
    });
    await files.apply({ org: name }, all);
    const { members, groups } = await files.export();
    expect(members).toEqual(["alice", "olive"]);
    expect(groups).toEqual([
      { name: "board", subgroups: ["chairs"] },
      { name: "chairs", members: ["alice"] },
    ]);
  });

  test("with a permission that there is not is refused as it is planned, in roles and clients", async () => {
    const { files, name, org, api } = await openOrg();
    const role = { name: "deployer", permissions: ["acme.anything.do", "iam.members.gett"] };
    const client = { name: "page", redirect_uris: ["https://page.example/a"], scopes: ["iam.members.gett"] };
    const refused = await failureOf(files.plan({ org: name, roles: [role], clients: [client] }));
    expect([refused.reason, refused.fields]).toEqual([
      "FIELD_INVALID",
      ["org_file.roles[0].permissions", "org_file.clients[0].scopes"],
    ]);
    expect(refused.message).toContain("there is no iam.members.gett; the nearest is iam.members.get");
    const known = { ...role, permissions: ["acme.anything.do", "iam.members.get"] };
    await files.apply({ org: name, roles: [known] });
    expect((await api.roles.getRole({ path: `${org.path}/roles/deployer` })).permissions).toEqual(known.permissions);
  });

  test("removes a tenth of each kind at most, or one, unless more is asked for", async () => {
    const { files, name } = await openOrg();
    await files.apply({ org: name, groups: ["a", "b", "c"], projects: ["p"] });
    const one = { org: name, groups: ["a", "b"] };
    expect((await files.plan(one, { prune: all.prune })).obstacles).toEqual([]);
    const two = { org: name, groups: ["a"] };
    const { obstacles } = await files.plan(two, { prune: all.prune });
    expect(obstacles).toEqual(["2 of 3 groups would be removed, and at most 1 may be: see max_removal_percent"]);
    const failure = await failureOf(files.apply(two, { prune: all.prune }));
    expect([failure.code, failure.reason, failure.message]).toEqual([
      "FailedPrecondition",
      "STATE_FORBIDS",
      obstacles[0],
    ]);
    await files.apply(two, { prune: all.prune, maxRemovalPercent: 67 });
    expect((await files.export())["groups"]).toEqual(["a"]);
  });
});

describe("an apply", () => {
  test("is of the plan's revision, and of two at once one is refused", async () => {
    const { files, name, org, api } = await openOrg();
    const file = (groups: string[]): JsonObject => ({ org: name, groups });
    const { plan } = await files.plan(file(["late"]));
    await api.groups.createGroup({ parentPath: org.path, group: { name: "other" } });
    const stale = await failureOf(files.client.applyOrg({ path: org.path, orgFile: file(["late"]), plan }));
    expect([stale.code, stale.reason]).toEqual(["Aborted", "ETAG_STALE"]);

    const [one, two] = [await files.plan(file(["one"])), await files.plan(file(["two"]))];
    const outcomes = await Promise.allSettled([
      files.client.applyOrg({ path: org.path, orgFile: file(["one"]), plan: one.plan }),
      files.client.applyOrg({ path: org.path, orgFile: file(["two"]), plan: two.plan }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const applied = outcomes[0]?.status === "fulfilled" ? "one" : "two";
    expect((await files.export())["groups"]).toEqual(["other", applied].toSorted());
  });

  test("of a file that makes other changes after a while, without a new revision, is to be planned again", async () => {
    const { files, name, org, key } = await openOrg();
    const group = {
      name: "a",
      members: [{ member_path: `${org.path}/members/olive`, expire_time: "2100-01-01T00:00:00Z" }],
    };
    await files.apply({ org: name, groups: [group] });
    const file = { org: name, groups: ["a"] };
    const { plan, lines } = await files.plan(file, { prune: all.prune });
    expect(lines).toEqual(["DELETE groups/a/members/olive"]);
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update group_members set expire_time = now() - interval '1 s' where org_id = $1", [org.id]);
    await sql.close();
    // One that has read nothing of the org before.
    const { client } = filesOf(org.path, (await secondSharedServer()).url, key);
    const failure = await failureOf(client.applyOrg({ path: org.path, orgFile: file, prune: all.prune, plan }));
    expect([failure.code, failure.reason]).toEqual(["Aborted", "ETAG_STALE"]);
  });

  test("takes the plan of its file and options only", async () => {
    const { files, name, org } = await openOrg();
    const { plan } = await files.plan({ org: name, groups: ["a"] });
    const failure = await failureOf(
      files.client.applyOrg({ path: org.path, orgFile: { org: name, groups: ["b"] }, plan }),
    );
    expect([failure.reason, failure.fields]).toEqual(["FIELD_INVALID", ["plan"]]);
    expect((await files.export())["groups"]).toBeUndefined();
  });

  test("is repeated with its request id without being made again, and only tried with validate_only", async () => {
    const { files, name, org } = await openOrg();
    const file = { org: name, groups: ["a"] };
    const { plan, revision } = await files.plan(file);
    const tried = await files.client.applyOrg({ path: org.path, orgFile: file, plan, validateOnly: true });
    expect([tried.changeCount, (await files.plan(file)).revision]).toEqual([1, revision]);
    const request = { path: org.path, orgFile: file, plan, requestId: "5f0c1d8e-3d0b-4b7a-9f51-6a2c8d1e7b30" };
    const [first, again] = [await files.client.applyOrg(request), await files.client.applyOrg(request)];
    expect(again).toEqual(first);
  });

  test("that fails at its last change leaves nothing", async () => {
    const { org, join: joinOrg, bind, name, api } = await openOrg();
    const editor = await joinOrg("eddy");
    for (const role of ["editor", "access-admin", "members-admin"]) await bind(org.path, role, editor);
    const permissions = ["iam.orgs.apply", "iam.orgs.plan", "iam.orgs.export"];
    const role = await api.roles.createRole({ parentPath: org.path, role: { name: "applies", permissions } });
    await bind(org.path, role.path, editor);
    const files = filesOf(org.path, server.url, editor.key);
    const before = await files.export();
    const file = {
      org: name,
      members: ["nina"],
      groups: [{ name: "a", members: ["nina"] }],
      role_bindings: [{ name: "nina-owns", role_path: "/roles/owner", subject_path: `${org.path}/members/nina` }],
    };
    const failure = await failureOf(files.apply(file));
    expect([failure.reason, failure.message]).toEqual([
      "GRANT_EXCEEDS_OWN",
      expect.stringContaining("create roleBindings/nina-owns: to grant a role"),
    ]);
    expect(await files.export()).toEqual(before);
  });
});
