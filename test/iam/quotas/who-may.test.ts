// Tests who can read quotas and set limits: callers cannot raise the limits of the level on which they hold the permission.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuotasService } from "../../../gen/iam/v1alpha/quota_pb.ts";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { type OrgCast, createOrgCast } from "../../access/org-cast.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

let server: TestServer;
let cast: OrgCast;
beforeAll(async () => {
  server = await startTestServer();
  cast = await createOrgCast("gRPC", server);
  const kinds = createClient(QuantityKindsService, cast.api.transport);
  await kinds.createQuantityKind({ quantityKind: { name: "cpu_cores", unit: "core" } });
});
afterAll(() => server.close());

type LevelName = "platform" | "customer" | "org" | "project";
type Quotas = ReturnType<typeof createClient<typeof QuotasService>>;

/** A member that holds a role on one level. On the platform, it is a member of the org `system`. */
async function callerWith(level: LevelName, rolePath: string, projectPath: string): Promise<Quotas> {
  const parentPath = level === "platform" ? "/orgs/system" : cast.org.path;
  const { path } = await cast.api.members.createMember({ parentPath, member: { name: uniqueName("m") } });
  const scope = { platform: "", customer: cast.org.customerPath, org: cast.org.path, project: projectPath }[level];
  await cast.grant(scope, path, rolePath);
  const { secret } = await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  return createClient(QuotasService, createApi("gRPC", server.url, secret).transport);
}

/** A role with only the permission to update quotas. Only predefined roles can be granted above orgs. */
async function updaterRole(level: LevelName): Promise<string> {
  return level === "org" || level === "project" ? cast.role(uniqueName("r"), "iam.quotas.update") : "/roles/admin";
}

/** The ways to change a limit of 10, or to set one where there is none. */
const ways = {
  raise: { from: { cpu_cores: 10 }, to: { cpu_cores: 11 } },
  remove: { from: { cpu_cores: 10 }, to: {} },
  keep: { from: { cpu_cores: 10 }, to: { cpu_cores: 10 } },
  lower: { from: { cpu_cores: 10 }, to: { cpu_cores: 9.9 } },
  set: { from: {}, to: { cpu_cores: 1_000_000 } },
};

type Allowed = "everything" | "all but raising" | "nothing";

/** Where the permission is held → what it allows at each level. */
const table: Readonly<Record<LevelName, Readonly<Record<Exclude<LevelName, "platform">, Allowed>>>> = {
  platform: { customer: "everything", org: "everything", project: "everything" },
  customer: { customer: "all but raising", org: "everything", project: "everything" },
  org: { customer: "nothing", org: "all but raising", project: "everything" },
  project: { customer: "nothing", org: "nothing", project: "all but raising" },
};

describe.each(Object.entries(table))("iam.quotas.update on the %s", (held, levels) => {
  test.each(Object.entries(levels))("of the %s allows %s", async (level, allowed) => {
    const project = await cast.project(uniqueName("p"));
    const path = { customer: cast.org.customerPath, org: cast.org.path, project }[level] ?? "";
    const operator = createClient(QuotasService, cast.api.transport);
    const caller = await callerWith(held as LevelName, await updaterRole(held as LevelName), project);
    const set = (quotas: Quotas, limits: Record<string, number>) =>
      quotas.updateQuota({ parentPath: path, quota: { limits }, updateMask: { paths: ["limits"] } });
    for (const [way, { from, to }] of Object.entries(ways)) {
      await set(operator, from);
      const isRefused = allowed === "nothing" || (allowed === "all but raising" && ["raise", "remove"].includes(way));
      if (isRefused) {
        const failure = await failureOf(set(caller, to));
        expect([way, failure.reason, failure.metadata["permission"]]).toEqual([
          way,
          "PERMISSION_DENIED",
          "iam.quotas.update",
        ]);
        expect(await operator.getQuota({ parentPath: path })).toMatchObject({ limits: from });
        if (allowed === "nothing") continue;
        const above = { customer: "the platform", org: cast.org.customerPath, project: cast.org.path }[level] ?? "";
        expect([failure.message, failure.metadata["resource"]]).toEqual([
          expect.stringContaining(`requires the permission iam.quotas.update on ${above}: cpu_cores from 10 to `),
          above,
        ]);
      } else {
        expect([way, (await set(caller, to)).limits]).toEqual([way, to]);
      }
    }
    await set(operator, {});
  });
});

test.each([
  ["viewer", true, false],
  ["editor", true, false],
  ["access-admin", true, false],
  ["projects-admin", false, false],
  ["admin", true, true],
  ["owner", true, true],
])("the role %s on an org: reads %s, lowers %s, raises none", async (role, reads, lowers) => {
  const parentPath = cast.org.path;
  const caller = await callerWith("org", `/roles/${role}`, "");
  const attempt = (call: Promise<unknown>) =>
    call.then(
      () => true,
      () => false,
    );
  const operator = createClient(QuotasService, cast.api.transport);
  await operator.updateQuota({ parentPath, quota: { limits: { cpu_cores: 10 } } });
  expect(await attempt(caller.getQuota({ parentPath }))).toBe(reads);
  expect(await attempt(caller.updateQuota({ parentPath, quota: { limits: { cpu_cores: 9 } } }))).toBe(lowers);
  expect(await attempt(caller.updateQuota({ parentPath, quota: { limits: { cpu_cores: 11 } } }))).toBe(false);
});

test("a change with several limits is refused as a whole, and the error names those that it would raise", async () => {
  const parentPath = cast.org.path;
  const operator = createClient(QuotasService, cast.api.transport);
  const kinds = createClient(QuantityKindsService, cast.api.transport);
  await kinds.createQuantityKind({ quantityKind: { name: "ram", unit: "byte" } });
  await operator.updateQuota({ parentPath, quota: { limits: { cpu_cores: 10, ram: 10 } } });
  const caller = await callerWith("org", "/roles/admin", "");
  const limits = { cpu_cores: 9, ram: 12 };
  const { message } = await failureOf(caller.updateQuota({ parentPath, quota: { limits } }));
  expect(message.endsWith(": ram from 10 to 12")).toBe(true);
  expect((await operator.getQuota({ parentPath })).limits).toEqual({ cpu_cores: 10, ram: 10 });
});
