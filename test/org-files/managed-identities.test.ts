// What a source manages is a resource, not a path; and what goes with something else is shown, and kept from being removed by others.
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Drift_KindSchema as KindSchema, Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import type { Company } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type Files, all, filesOf, openFiles } from "./files.ts";

const ours = { source: { address: "https://git.example/acme/ours.yaml", version: "4f3c2a1" } };
const theirs = { source: { address: "https://git.example/acme/theirs.yaml", version: "1" } };
const managed = { ...ours, prune: Prune.MANAGED, maxRemovalPercent: 100 };

let server: SharedServer;
let company: Company;
let files: Files;
/** Of the same caller, through a second server. */
let others: Files;
let org: string;

beforeAll(async () => {
  server = await sharedServer();
});

beforeEach(async () => {
  let key: string;
  ({ company, files, org, key } = await openFiles(server));
  others = filesOf(company.org.path, (await secondSharedServer()).url, key, "gRPC");
});

const below = (path: string): string => path.split("/").slice(3).join("/");

async function open(): Promise<SqlClient> {
  const sql = await openSqlClient(server.databaseUrl);
  onTestFinished(() => sql.close());
  return sql;
}

test("what was made by hand at the path of something managed is nobody's, and is not pruned", async () => {
  const { api } = company;
  const { path } = company.org;
  const web = { name: "web", members: ["olive"] };
  await files.apply({ org, groups: [web, "sre"] }, ours);
  await api.groups.deleteGroup({ path: `${path}/groups/sre` });
  await api.groups.createGroup({ parentPath: path, group: { name: "sre" } });
  // A membership has the id of its member.
  await api.groupMembers.deleteGroupMember({ path: `${path}/groups/web/members/olive` });
  await api.groupMembers.createGroupMember({
    parentPath: `${path}/groups/web`,
    groupMember: { memberPath: `${path}/members/olive` },
  });
  const left = await files.plan({ org, groups: ["web"] }, managed);
  expect(left.lines).toEqual([]);
  expect(left.drifts.map(({ kind, resourcePath }) => `${KindSchema.value[kind]?.name} ${below(resourcePath)}`)).toEqual(
    [
      "UNMANAGED members/olive",
      "UNMANAGED groups/sre",
      "UNMANAGED groups/web/members/olive",
      expect.stringMatching(/^UNMANAGED roleBindings/),
    ],
  );
  const kept = await files.plan({ org, groups: [web, "sre"] }, managed);
  expect(kept.adoptedCount).toBe(2);
  expect(kept.drifts.map(({ kind, resourcePath }) => `${KindSchema.value[kind]?.name} ${below(resourcePath)}`)).toEqual(
    [
      "UNMANAGED members/olive",
      expect.stringMatching(/^UNMANAGED roleBindings/),
      "REMOVED groups/sre",
      "REMOVED groups/web/members/olive",
    ],
  );
  // An apply that has them manages them, and then prunes them.
  await files.apply({ org, groups: [web, "sre"] }, ours);
  expect((await files.plan({ org, groups: ["web"] }, managed)).lines).toEqual([
    "DELETE groups/web/members/olive",
    "DELETE groups/sre",
  ]);
});

test("what an apply creates or replaces is managed as the resource that it has become", async () => {
  const binding = (role: string) => ({
    name: "sre",
    role_path: `/roles/${role}`,
    subject_path: `/orgs/${org}/groups/sre`,
  });
  const file = (role: string) => ({ org, groups: ["sre"], role_bindings: [binding(role)] });
  await files.apply(file("viewer"), ours);
  expect((await files.plan(file("editor"), ours)).lines).toEqual([expect.stringMatching(/^REPLACE roleBindings\/sre/)]);
  await files.apply(file("editor"), ours);
  expect((await files.plan({ org, groups: ["sre"] }, managed)).lines).toEqual(["DELETE roleBindings/sre"]);
});

test("what a version before has noted is managed by its path, until an apply notes which resource it is", async () => {
  const sql = await open();
  await files.apply({ org, groups: ["sre"] }, ours);
  const setUnknown = "update managed_resources set identity_hash = null where org_id = $1";
  const { id, path } = company.org;
  await sql.query(setUnknown, [id]);
  expect((await files.plan({ org }, managed)).lines).toEqual(["DELETE groups/sre"]);
  await files.apply({ org, groups: ["sre"] }, ours);
  await company.api.groups.deleteGroup({ path: `${path}/groups/sre` });
  await company.api.groups.createGroup({ parentPath: path, group: { name: "sre" } });
  expect((await files.plan({ org }, managed)).lines).toEqual([]);
});

test("a plan lists what goes with what it removes, and another source's is not taken along", async () => {
  const { api } = company;
  const { path } = company.org;
  await files.apply({ org, groups: ["web", "sre"] }, ours);
  await others.apply({ org, groups: [{ name: "ops", members: ["olive"], subgroups: ["web"] }] }, theirs);
  await api.roleBindings.createRoleBinding({
    parentPath: path,
    roleBinding: { name: "web", rolePath: "/roles/viewer", subjectPath: `${path}/groups/web` },
  });
  const planned = await files.plan({ org, groups: ["sre"] }, managed);
  expect(planned.lines).toEqual(["DELETE groups/web"]);
  const removals = [
    ["groups/ops/subgroups/web", "groups/web", theirs.source.address],
    ["roleBindings/web", "groups/web", undefined],
  ];
  const shown = ({ impliedRemovals }: typeof planned) =>
    impliedRemovals.map((each) => [below(each.resourcePath), below(each.withPath), each.managedBy?.address]);
  expect(shown(planned)).toEqual(removals);
  expect(planned.impliedRemovalCount).toBe(2);
  const obstacle = `groups/web would be removed, and with it groups/ops/subgroups/web, which ${theirs.source.address} manages: remove them there first`;
  expect(planned.obstacles).toEqual([obstacle]);
  const failure = await failureOf(files.apply({ org, groups: ["sre"] }, managed));
  expect([failure.reason, failure.message]).toEqual(["STATE_FORBIDS", obstacle]);
  expect((await files.export())["groups"]).toEqual([
    { name: "ops", members: ["olive"], subgroups: ["web"] },
    "sre",
    "web",
  ]);
  // Whoever prunes all means all, and is limited by what goes with it as well.
  const whole = { org, groups: ["sre", { name: "ops", members: ["olive"] }] };
  expect((await files.plan(whole, { ...ours, ...all })).obstacles).toEqual([]);
  await api.roleBindings.createRoleBinding({
    parentPath: path,
    roleBinding: { name: "web-too", rolePath: "/roles/editor", subjectPath: `${path}/groups/web` },
  });
  expect((await files.plan(whole, { ...ours, prune: Prune.ALL })).obstacles).toEqual([
    "2 of 3 role bindings would be removed, and at most 1 may be: see max_removal_percent",
  ]);
});

test("of two sources that apply at once, one that adopts what the other removes is seen by that", async () => {
  const sql = await open();
  const watcher = await open();
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await files.apply({ org, groups: ["sre", "web"] }, ours);
  const [removing, adopting] = [
    { org, groups: ["sre"] },
    { org, groups: ["web"] },
  ];
  const [{ plan }, { plan: adoption, lines }] = await Promise.all([
    files.plan(removing, managed),
    others.plan(adopting, theirs),
  ]);
  expect(lines).toEqual([]);
  const { id, path } = company.org;
  await sql.query("begin");
  await sql.query("select from orgs where id = $1 for update", [id]);
  // Both have compared the org before either has its lock. The one that came first gets it first.
  const adopted = others.client.applyOrg({ path, orgFile: adopting, ...theirs, plan: adoption });
  await expect.poll(() => watcher.query(waiting)).toHaveLength(1);
  const removed = failureOf(files.client.applyOrg({ path, orgFile: removing, ...managed, plan }));
  await expect.poll(() => watcher.query(waiting)).toHaveLength(2);
  await sql.query("commit");
  expect((await adopted).changeCount).toBe(0);
  expect((await removed).reason).toBe("ETAG_STALE");
  expect((await files.export())["groups"]).toEqual(["sre", "web"]);
  // A plan from before is refused as well, and a new one leaves what another source manages.
  const late = await failureOf(files.client.applyOrg({ path, orgFile: removing, ...managed, plan }));
  expect(late.reason).toBe("ETAG_STALE");
  expect((await files.plan(removing, managed)).lines).toEqual([]);
});

test("an org that changes while it is planned is compared again", async () => {
  const { api } = company;
  const { path } = company.org;
  await files.apply({ org, groups: ["sre"] });
  const binding = { name: "sre", role_path: "/roles/viewer", subject_path: `${path}/groups/sre` };
  const wanted = { org, groups: ["sre"], role_bindings: [binding] };
  for (let round = 0; round < 12; round++) {
    const [{ lines }] = await Promise.all([
      files.plan(wanted),
      api.projects.createProject({ parentPath: path, project: { name: `p${round}` } }),
    ]);
    expect(lines).toEqual(["CREATE roleBindings/sre"]);
  }
});
