// Which resources a source manages: what an apply notes, what is shown as different since, and what is pruned.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { Drift_KindSchema as KindSchema, Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { type ManagedResources, isSameManaged } from "../../src/org-files/managed-resources.ts";
import type { Company } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Files, all, openFiles } from "./files.ts";

const source = { address: "https://git.example/acme/iam.yaml", version: "4f3c2a1" };
const managed = { source, prune: Prune.MANAGED, maxRemovalPercent: 100 };

let server: SharedServer;
let company: Company;
let files: Files;
let org: string;

beforeAll(async () => {
  server = await sharedServer();
});

beforeEach(async () => {
  ({ company, files, org } = await openFiles(server));
});

/** Plans with the source, and returns the drifts in lines: `CHANGED groups/sre 4f3c2a1`. */
async function driftsOf(file: JsonObject, options: object = { source }): Promise<readonly string[]> {
  const { drifts } = await files.plan(file, options);
  return drifts.map(({ kind, resourcePath, managedBy }) =>
    [KindSchema.value[kind]?.name, resourcePath.split("/").slice(3).join("/"), managedBy?.version]
      .filter((part) => part !== undefined)
      .join(" "),
  );
}

const file = (more: JsonObject = {}): JsonObject => ({
  org,
  groups: [{ name: "sre", members: ["olive"] }, "web"],
  projects: ["shop"],
  ...more,
});

test("an apply with a source manages what is in the file, and what others change is a drift", async () => {
  const { api } = company;
  const { path } = company.org;
  const { adoptedCount } = await files.plan(file(), { source });
  expect(adoptedCount).toBe(4);
  await files.apply(file(), { source });
  const ours = ["UNMANAGED members/olive", expect.stringMatching(/^UNMANAGED roleBindings\/binding/) as string];
  expect(await driftsOf(file())).toEqual(ours);
  expect((await files.plan(file(), { source })).adoptedCount).toBe(0);
  // An edit by hand stays until the next apply, and so does one by a file without a source.
  await api.groups.updateGroup({
    path: `${path}/groups/web`,
    group: { description: "by hand" },
    updateMask: { paths: ["description"] },
  });
  await api.projects.deleteProject({ path: `${path}/projects/shop` });
  await api.groups.createGroup({ parentPath: path, group: { name: "stray" } });
  await files.apply({ org, groups: [{ name: "sre", description: "by another file" }] });
  const next = { source: { ...source, version: "99aa11b" } };
  expect(await driftsOf(file(), next)).toEqual([
    ours[0],
    "CHANGED groups/sre 4f3c2a1",
    "UNMANAGED groups/stray",
    "CHANGED groups/web 4f3c2a1",
    ours[1],
    "REMOVED projects/shop 4f3c2a1",
  ]);
  expect((await files.plan(file())).drifts).toEqual([]);
  await files.apply(file(), next);
  expect(await driftsOf(file(), next)).toEqual([ours[0], "UNMANAGED groups/stray", ours[1]]);
});

test("pruning what is managed leaves what is not, and what another source manages", async () => {
  await files.apply(file(), { source });
  const other = { source: { address: "https://git.example/acme/other.yaml", version: "1" } };
  await files.apply({ org, groups: ["theirs"] }, other);
  const { path } = company.org;
  await company.api.groups.createGroup({ parentPath: path, group: { name: "stray" } });
  // What nobody manages goes with what it is in.
  await company.api.groupMembers.createSubgroup({
    parentPath: `${path}/groups/web`,
    subgroup: { groupPath: `${path}/groups/stray` },
  });
  const wanted = { org, groups: [{ name: "sre", members: ["olive"] }] };
  const { lines, unlistedPaths } = await files.plan(wanted, managed);
  expect(lines).toEqual(["DELETE groups/web", "DELETE projects/shop"]);
  expect(unlistedPaths.map((each) => each.split("/").slice(3).join("/"))).toEqual([
    "members/olive",
    "groups/stray",
    "groups/theirs",
    expect.stringMatching(/^roleBindings\/binding/),
  ]);
  await files.apply(wanted, managed);
  expect((await files.export())["groups"]).toEqual([{ name: "sre", members: ["olive"] }, "stray", "theirs"]);
  // What was removed by an apply is no drift, and made again by hand nobody manages it.
  await company.api.groups.createGroup({ parentPath: path, group: { name: "web" } });
  expect(await driftsOf(wanted)).toContain("UNMANAGED groups/web");
  // Another file that has a resource takes it over.
  await files.apply({ org, groups: [{ name: "sre", members: ["olive"] }] }, other);
  expect((await files.plan({ org, groups: [] }, managed)).lines).toEqual([]);
});

test("an apply that fails, or is only tried, manages nothing, and pruning needs a source", async () => {
  const broken = file({ expect: ["olive may not iam.members.get"] });
  expect((await failureOf(files.apply(broken, { source }))).reason).toBe("STATE_FORBIDS");
  const { path } = company.org;
  const { plan } = await files.plan(file(), { source });
  await files.client.applyOrg({ path, orgFile: file(), source, plan, validateOnly: true });
  expect((await files.plan(file(), { source })).adoptedCount).toBe(4);
  expect((await failureOf(files.plan(file(), { prune: Prune.MANAGED }))).fields).toEqual(["source"]);
  expect((await failureOf(files.plan(file(), { source: { address: "" } }))).fields).toEqual(["source.address"]);
  // What is there already is adopted without being changed.
  await files.apply(file());
  expect((await files.apply(file(), { source })).changeCount).toBe(0);
  expect((await files.plan({ org }, { ...managed, ...all, prune: Prune.MANAGED })).lines).toEqual([
    "DELETE groups/sre",
    "DELETE groups/web",
    "DELETE projects/shop",
  ]);
});

test("what sources manage is compared in turns, between which others run", async () => {
  const hash = (index: number): string => index.toString(16).padStart(32, "0");
  const content = { contentHash: hash(1), identityHash: undefined, address: "a", version: "1" };
  const noted: ManagedResources = new Map(
    Array.from({ length: 500_000 }, (_, index) => [hash(index), { ...content }] as const),
  );
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await isSameManaged(noted, noted)).toBe(true);
  isOver = true;
  expect(turns).toBeGreaterThan(0);
  const other = new Map(noted).set(hash(499_999), { ...content, version: "2" });
  expect(await isSameManaged(noted, other)).toBe(false);
});
