// Limits of quotas in files: set, raised, lowered and removed by the rules of UpdateQuota, and only where the file has a quota.
import { type JsonObject, getOption } from "@bufbuild/protobuf";
import { type Client, type Transport, createClient } from "@connectrpc/connect";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { Drift_KindSchema as KindSchema, Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { ResourceTypesService } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../gen/resources/v1alpha/service_pb.ts";
import { fileForms } from "../../src/org-files/file-resources.ts";
import type { Company } from "../access/callers.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport, protocols } from "../support/transports.ts";
import { type Files, all, filesOf, openFiles } from "./files.ts";

const kindName = (start: string): string => uniqueName(start).replaceAll("-", "_");
const [cpu, ram] = [kindName("cpu"), kindName("ram")];

let server: SharedServer;
let quotas: Client<typeof QuotasService>;
let kinds: Client<typeof QuantityKindsService>;
let transport: Transport;
let company: Company;
let files: Files;
let key: string;
/** The files of the operator, who may raise the limits of the org. */
let operated: Files;
let org: string;

beforeAll(async () => {
  server = await sharedServer();
  transport = createTransport("gRPC", server.url, server.operatorKey);
  quotas = createClient(QuotasService, transport);
  kinds = createClient(QuantityKindsService, transport);
  for (const name of [cpu, ram]) await kinds.createQuantityKind({ quantityKind: { name, unit: "unit" } });
});

beforeEach(async () => {
  ({ company, files, org, key } = await openFiles(server));
  operated = filesOf(company.org.path, server.url, server.operatorKey, "gRPC");
});

const pathOf = (level: string): string => (level === "" ? company.org.path : `${company.org.path}/${level}`);

async function limitsOf(level: string): Promise<Readonly<Record<string, number>>> {
  return (await quotas.getQuota({ parentPath: pathOf(level) })).limits;
}

async function setLimits(level: string, limits: Record<string, number>): Promise<void> {
  await quotas.updateQuota({ parentPath: pathOf(level), quota: { limits }, updateMask: { paths: ["limits"] } });
}

/** A file with limits of the org and of a project. */
const file = (ofOrg: JsonObject, ofShop: JsonObject): JsonObject => ({
  org,
  quota: ofOrg,
  projects: [{ name: "shop", quota: ofShop }, "web"],
});

describe.each(rounds<readonly Protocol[]>(["REST"], protocols))("over %s", (protocol) => {
  test("limits are set with the projects that the file creates, and exported as it has them", async () => {
    files = filesOf(company.org.path, server.url, key, protocol);
    const wanted = file({ [cpu]: 1000 }, { [cpu]: 10, [ram]: 0.5 });
    const { lines, changes, obstacles } = await files.plan(wanted);
    expect(obstacles).toEqual([]);
    expect(lines).toEqual([
      "CREATE projects/shop",
      "CREATE projects/web",
      `UPDATE projects/shop/quota limits.${cpu} limits.${ram}`,
      `UPDATE quota limits.${cpu}`,
    ]);
    expect(changes.at(2)?.changedValues).toMatchObject([
      { field: `limits.${cpu}`, before: "", after: "10" },
      { field: `limits.${ram}`, before: "", after: "0.5" },
    ]);
    expect((await files.apply(wanted)).changeCount).toBe(4);
    expect(await limitsOf("")).toEqual({ [cpu]: 1000 });
    expect(await limitsOf("projects/shop")).toEqual({ [cpu]: 10, [ram]: 0.5 });
    const exported = await files.export();
    expect(exported).toMatchObject({ quota: wanted["quota"], projects: wanted["projects"] });
    expect((await files.plan(exported, all)).lines).toEqual([]);
    const { changes: entries } = await company.api.changes.listChanges({ parentPath: company.org.path, pageSize: 20 });
    expect(
      entries.filter(({ resourceType }) => resourceType === "Quota").map((each) => [each.resourcePath, each.actorPath]),
    ).toEqual([
      [`${company.org.path}/quota`, `${company.org.path}/members/olive`],
      [`${company.org.path}/projects/shop/quota`, `${company.org.path}/members/olive`],
    ]);
  });
});

describe("a limit that a file does not name", () => {
  beforeEach(async () => {
    await operated.apply(file({ [cpu]: 1000, [ram]: 64 }, { [cpu]: 10, [ram]: 5 }));
  });

  test("stays where the file has no quota, whatever is pruned, and is not told", async () => {
    const { quota: _quota, ...exported } = await operated.export();
    const without = { ...exported, projects: ["shop", "web"] };
    for (const options of [{}, all]) {
      const { lines, unlistedPaths, obstacles } = await operated.plan(without, options);
      expect([lines, obstacles, unlistedPaths.filter((path) => path.endsWith("/quota"))]).toEqual([[], [], []]);
    }
    // What goes with its project is not told either.
    const { impliedRemovals, obstacles } = await operated.plan({ ...without, projects: ["web"] }, { prune: Prune.ALL });
    expect([impliedRemovals, obstacles]).toEqual([[], []]);
  });

  test("stays where the file names another, and is removed if all is pruned", async () => {
    const exported = await operated.export();
    const less = { ...exported, ...file({ [cpu]: 1000 }, {}) };
    const { lines, unlistedPaths } = await operated.plan(less);
    expect(lines).toEqual([]);
    expect(unlistedPaths).toEqual([`${company.org.path}/projects/shop/quota`, `${company.org.path}/quota`]);
    const pruned = await operated.plan(less, all);
    expect(pruned.lines).toEqual([
      `UPDATE projects/shop/quota limits.${cpu} limits.${ram}`,
      `UPDATE quota limits.${ram}`,
    ]);
    expect(pruned.changes.at(1)?.changedValues).toMatchObject([{ before: "64", after: "" }]);
    expect((await operated.plan(less, { prune: Prune.ALL })).obstacles).toEqual([
      "3 of 4 limits of quotas would be removed, and at most 1 may be: see max_removal_percent",
    ]);
    await operated.apply(less, all);
    expect([await limitsOf(""), await limitsOf("projects/shop")]).toEqual([{ [cpu]: 1000 }, {}]);
  });

  test("is removed if its source prunes what it manages, and stays if somebody else has set it", async () => {
    const source = { address: "https://git.example/limits.yaml", version: "1" };
    const managed = { source, prune: Prune.MANAGED, maxRemovalPercent: 100 };
    const ours = {
      org,
      projects: [
        { name: "shop", quota: { [cpu]: 9 } },
        { name: "new", quota: { [cpu]: 1 } },
      ],
    };
    expect((await operated.plan(ours, { source })).adoptedCount).toBe(4);
    await operated.apply(ours, { source });
    expect((await operated.plan(ours, { source })).adoptedCount).toBe(0);
    await setLimits("projects/new", { [cpu]: 2 });
    const { drifts } = await operated.plan(ours, { source });
    const told = drifts.map(({ kind, resourcePath }) => `${KindSchema.value[kind]?.name} ${resourcePath}`);
    expect(told.filter((line) => line.endsWith("/quota"))).toEqual([
      `CHANGED ${company.org.path}/projects/new/quota`,
      `UNMANAGED ${company.org.path}/projects/shop/quota`,
    ]);
    // Its projects stay in the file, which has no limits any more.
    const less = { org, projects: ["shop", "new"] };
    expect((await operated.plan(less, managed)).lines).toEqual([
      `UPDATE projects/new/quota limits.${cpu}`,
      `UPDATE projects/shop/quota limits.${cpu}`,
    ]);
    await operated.apply(less, managed);
    expect(await limitsOf("projects/shop")).toEqual({ [ram]: 5 });
    expect([await limitsOf("projects/new"), await limitsOf("")]).toEqual([{}, { [cpu]: 1000, [ram]: 64 }]);
    // It was let go of: what somebody sets there then is not pruned.
    await setLimits("projects/new", { [cpu]: 3 });
    expect((await operated.plan(less, managed)).lines).toEqual([]);
  });

  test("and that another source manages stands in the way of removing its project", async () => {
    const [ours, theirs] = ["ours", "theirs"].map((address) => ({ address, version: "1" }));
    if (ours === undefined || theirs === undefined) throw new Error("there are two sources");
    // It has no limits before.
    await operated.apply({ org, projects: ["web"] }, { source: ours });
    await operated.apply({ org, projects: [{ name: "web", quota: { [cpu]: 10 } }] }, { source: theirs });
    await operated.apply({ org, projects: ["web"] }, { source: ours });
    const { obstacles } = await operated.plan({ org }, { source: ours, prune: Prune.MANAGED });
    expect(obstacles).toEqual([
      `projects/web would be removed, and with it projects/web/quota/${cpu}, which theirs manages: remove them there first`,
    ]);
    // A file of ours that has the project and no quota lifts nothing, whatever is pruned.
    const { lines, unlistedPaths } = await operated.plan({ org, projects: ["shop", "web"] }, { source: ours, ...all });
    expect(lines.filter((line) => line.includes("quota"))).toEqual([]);
    expect(unlistedPaths).toContain(`${company.org.path}/projects/web/quota`);
  });
});

describe("who may not raise a limit", () => {
  beforeEach(async () => {
    await operated.apply(file({ [cpu]: 1000, [ram]: 64 }, { [cpu]: 10 }));
  });

  const raising = (what: string): string =>
    `quota["${ram}"]: the caller may lower the limits of ${company.org.path} but not raise or remove them, which requires the permission iam.quotas.update on ${company.org.customerPath}: ${what}`;

  test("is told so by the plan, and nothing of the file is made", async () => {
    const wanted = { ...file({ [cpu]: 999, [ram]: 65 }, { [cpu]: 11 }), groups: ["sre"] };
    const { obstacles, lines } = await files.plan(wanted);
    expect(obstacles).toEqual([raising(`${ram} from 64 to 65`)]);
    expect(lines).toHaveLength(3);
    const { reason, message } = await failureOf(files.apply(wanted));
    expect([reason, message]).toEqual(["STATE_FORBIDS", expect.stringContaining("iam.quotas.update on /customers/")]);
    expect([await limitsOf(""), await limitsOf("projects/shop")]).toEqual([{ [cpu]: 1000, [ram]: 64 }, { [cpu]: 10 }]);
    expect((await files.export())["groups"]).toBeUndefined();
    // Whoever may raise it plans and applies the same file.
    expect((await operated.plan(wanted)).obstacles).toEqual([]);
    await operated.apply(wanted);
    expect(await limitsOf("")).toEqual({ [cpu]: 999, [ram]: 65 });
  });

  test("may not remove it either, and lowers it", async () => {
    const exported = await files.export();
    const { obstacles } = await files.plan({ ...exported, quota: { [cpu]: 1000 } }, all);
    expect(obstacles).toEqual([raising(`${ram} from 64 to none`).replace(`quota["${ram}"]`, "quota")]);
    await files.apply({ ...exported, quota: { [cpu]: 1, [ram]: 0 } }, all);
    expect(await limitsOf("")).toEqual({ [cpu]: 1, [ram]: 0 });
  });

  test("plans for somebody else, whose permissions it is not told", async () => {
    const { key: viewer } = await company.joinAs("viewer", "vera");
    const wanted = file({ [cpu]: 1001 }, { [cpu]: 11 });
    expect((await filesOf(company.org.path, server.url, viewer).plan(wanted)).obstacles).toEqual([]);
    const authorPath = `${company.org.path}/members/vera`;
    expect((await files.plan(wanted, { authorPath })).obstacles).toEqual([]);
    expect(await failureOf(filesOf(company.org.path, server.url, viewer).apply(wanted))).toMatchObject({
      reason: "PERMISSION_DENIED",
    });
  });

  test("and may not update quotas at all is refused by the apply, with all else that the file changes", async () => {
    const { api, bind, join } = company;
    const permissions = ["iam.orgs.apply", "iam.groups.create"];
    const role = await api.roles.createRole({ parentPath: company.org.path, role: { name: "planner", permissions } });
    const planner = await join("pam");
    for (const each of [role.path, "viewer"]) await bind(company.org.path, each, planner);
    const theirs = filesOf(company.org.path, server.url, planner.key);
    const { permission, message } = await failureOf(
      theirs.apply({ org, groups: ["sre"], projects: [{ name: "shop", quota: { [cpu]: 9 } }] }),
    ).then(({ metadata, message: text }) => ({ permission: metadata["permission"], message: text }));
    expect([permission, message]).toEqual([
      "iam.quotas.update",
      expect.stringContaining("update projects/shop/quota: "),
    ]);
    expect((await files.export())["groups"]).toBeUndefined();
  });
});

test("who may not get a quota neither exports nor plans", async () => {
  const { api, bind, join } = company;
  await operated.apply(file({}, { [cpu]: 10 }));
  const lists = Object.values(fileForms).map(({ list }) => getOption(list, authorization).permission);
  const permissions = [...new Set(lists), "iam.orgs.get", "iam.orgs.export", "iam.orgs.plan"];
  const role = await api.roles.createRole({ parentPath: company.org.path, role: { name: "lister", permissions } });
  const lister = await join("lou");
  await bind(company.org.path, role.path, lister);
  const theirs = filesOf(company.org.path, server.url, lister.key);
  for (const call of [() => theirs.export(), () => theirs.plan({ org })])
    expect((await failureOf(call())).metadata["permission"]).toBe("iam.quotas.get");
});

test("a quota of a file is refused at each place that is wrong", async () => {
  const named = (limits: JsonObject): JsonObject => ({ org, projects: ["web", { name: "shop", quota: limits }] });
  const at = "org_file.projects[1].quota";
  const cases: readonly (readonly [file: JsonObject, fields: Record<string, string>])[] = [
    [named({ [cpu]: -1 }), { [`${at}["${cpu}"]`]: "greater than or equal to 0" }],
    [named({ [cpu]: 1e25 }), { [`${at}["${cpu}"]`]: "less than or equal to" }],
    [named({ [cpu]: "10", [ram]: null }), { [`${at}["${cpu}"]`]: "got string", [`${at}["${ram}"]`]: "got null" }],
    [named({ "CPU cores": 1 }), { [`${at}["CPU cores"]`]: "lowercase letters" }],
    [named({ no_such_kind: 1 }), { [`${at}["no_such_kind"]`]: "must be the limit of a QuantityKind" }],
    [{ org, quota: [1] }, { "org_file.quota": "must be an object with a limit for each QuantityKind" }],
    [
      { org, quota: Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`k${index}`, 1])) },
      { "org_file.quota": "500" },
    ],
    [
      {
        org,
        projects: [
          { name: "shop", quota: { [cpu]: 1 } },
          { name: "shop", quota: { [cpu]: 2, [ram]: 1 } },
        ],
      },
      { [`${at}["${cpu}"]`]: "another one is at org_file.projects[0]" },
    ],
  ];
  for (const [wrong, fields] of cases) {
    const failure = await failureOf(files.plan(wrong));
    expect(failure.fields.toSorted()).toEqual(Object.keys(fields).toSorted());
    for (const part of Object.values(fields)) expect(failure.message).toContain(part);
  }
});

test("more limits than a mask can name are changed at once", async () => {
  const many = Array.from({ length: 120 }, () => kindName("many"));
  for (let start = 0; start < many.length; start += 40)
    await Promise.all(
      many.slice(start, start + 40).map((name) => kinds.createQuantityKind({ quantityKind: { name, unit: "unit" } })),
    );
  const limits = Object.fromEntries(many.map((name, index) => [name, index]));
  await files.apply({ org, projects: [{ name: "shop", quota: limits }] });
  expect(await limitsOf("projects/shop")).toEqual(limits);
});

test("a limit below what is used is set, as by an update of the quota, and nothing more can be used then", async () => {
  await files.apply(file({ [cpu]: 1000 }, { [cpu]: 10 }));
  const service = await createClient(ServicesService, transport).createService({
    service: { name: kindName("s").replaceAll("_", "") },
  });
  const { path: typePath } = await createClient(ResourceTypesService, transport).createResourceType({
    parentPath: service.path,
    resourceType: {
      name: "things",
      collection: "things",
      operations: [{ verb: "create", quantities: [{ kind: cpu, counted: true }] }, { verb: "delete" }],
    },
  });
  const use = (name: string, amount: number) =>
    createClient(ResourcesService, transport).createResource({
      parentPath: pathOf("projects/shop"),
      resource: { name, typePath, quantities: { [cpu]: amount } },
    });
  await use("one", 4);
  const lower = file({ [cpu]: 3 }, { [cpu]: 2 });
  expect((await files.plan(lower)).obstacles).toEqual([]);
  await files.apply(lower);
  expect(await limitsOf("projects/shop")).toEqual({ [cpu]: 2 });
  expect((await failureOf(use("two", 1))).reason).toBe("QUOTA_EXCEEDED");
});

test("of an apply and an update of a quota at once, the plan is what there is, or the apply is refused", async () => {
  await operated.apply(file({}, { [cpu]: 10 }));
  for (let round = 1; round <= rounds(5, 100); round++) {
    const exported = await operated.export();
    const { plan } = await operated.plan({ ...exported, ...file({}, { [cpu]: 100 + round }) });
    const orgFile = { ...exported, ...file({}, { [cpu]: 100 + round }) };
    const [applied] = await Promise.allSettled([
      operated.client.applyOrg({ path: company.org.path, orgFile, plan }),
      setLimits("projects/shop", { [cpu]: 10, [ram]: round }),
    ]);
    const { [cpu]: after } = await limitsOf("projects/shop");
    // What the update has set last stays, and an apply that was made after it would have been of another revision.
    expect(after).toBe(10);
    if (applied.status === "rejected")
      expect(await failureOf(Promise.reject(applied.reason as Error))).toMatchObject({ reason: "ETAG_STALE" });
  }
});

test("a kind that is deleted meanwhile is refused with the place of the apply", async () => {
  const name = kindName("gone");
  const { path } = await kinds.createQuantityKind({ quantityKind: { name, unit: "unit" } });
  const orgFile = { org, projects: [{ name: "shop", quota: { [name]: 1 } }] };
  const { plan } = await files.plan(orgFile);
  await kinds.deleteQuantityKind({ path });
  const { reason } = await failureOf(files.client.applyOrg({ path: company.org.path, orgFile, plan }));
  expect(reason).toBe("FIELD_INVALID");
  expect((await files.export())["projects"]).toBeUndefined();
});
