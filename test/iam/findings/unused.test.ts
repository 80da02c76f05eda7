// Tests what is found because nobody uses it: of a random history of calls against a reading of it, and what is use.
import { type Client, createClient } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Finding, Finding_Kind, FindingsService } from "../../../gen/iam/v1alpha/finding_pb.ts";
import { createRequestConditions } from "../../../src/access/evaluation/condition-budget.ts";
import { compileWithinBudget } from "../../../src/access/evaluation/condition-input.ts";
import { createAccessEvaluator } from "../../../src/access/evaluation/evaluator.ts";
import { parseTargetPath } from "../../../src/access/evaluation/target-path.ts";
import { readSnapshot } from "../../../src/access/snapshots/read-snapshot.ts";
import { createUseRecorder } from "../../../src/access/uses/use-recorder.ts";
import { composeContract } from "../../../src/compose/contract.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { required } from "../../../src/errors/required.ts";
import { registry } from "../../../src/resource-registry.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { createTransport } from "../../support/transports.ts";
import { type Found, readOrg, toFound } from "./naive-findings.ts";
import { type PermittedCall, naiveUnused } from "./naive-uses.ts";
import { makeRandomOrg } from "./random-org.ts";

const dayMs = 86_400_000;
const contract = composeContract(registry);

let server: SharedServer;
let sql: SqlClient;
let api: Api;
let database: Database;
let operator: Client<typeof FindingsService>;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
  operator = createClient(FindingsService, createTransport("gRPC", server.url, server.operatorKey));
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
});
afterAll(async () => {
  await database.close();
  await sql.close();
});

const ofUse =
  "kind = MEMBER_UNUSED OR kind = ROLE_BINDING_UNUSED OR kind = GROUP_MEMBER_UNUSED OR kind = SUBGROUP_UNUSED OR kind = ROLE_PERMISSION_UNUSED";

async function listUnused(parentPath: string, unusedDays: number, pageSize: number): Promise<readonly Found[]> {
  const found: Found[] = [];
  let pageToken = "";
  do {
    const page = await operator.listFindings({ parentPath, unusedDays, filter: ofUse, pageSize, pageToken });
    found.push(...page.findings.map(toFound));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

/** Returns a server's part in an org: it decides as of a time, and records. */
function createDecider() {
  const onError = (error: unknown): never => {
    throw error;
  };
  const recorder = createUseRecorder({ database, intervalMs: 3_600_000, onError });
  const { collections, rolesByName: predefinedRoles } = contract;
  const evaluator = createAccessEvaluator({ database, collections, recordUse: recorder.record, systemOrgId: "" });
  return {
    async open(orgId: string) {
      const options = { predefinedRoles, compileCondition: compileWithinBudget };
      const snapshot = required(await readSnapshot(database, orgId, options));
      return async ({ memberPath, permission, resourcePath, timeMs }: PermittedCall): Promise<boolean> => {
        const name = required(memberPath.split("/").at(-1));
        const subject = required(snapshot.findSubject("member", { by: "name", value: name }));
        const conditions = createRequestConditions();
        const check = { subject, attributes: {}, now: timeMs, counted: "all", conditions } as const;
        const path = parseTargetPath(resourcePath, "path");
        return (await evaluator.resolveAllowed(snapshot, check, permission, path)) !== undefined;
      };
    },
    flush: recorder.flush,
    close: recorder.close,
  };
}

const pick = <Each>(from: readonly Each[]): Each => required(from[Math.floor(Math.random() * from.length)]);

/** Changes everything at random times before, and lets some role bindings begin later. */
async function age(orgId: string): Promise<void> {
  for (const table of ["role_bindings", "group_members", "subgroups", "roles"]) {
    await sql.query(`update ${table} set update_time = now() - random() * interval '110 days' where org_id = $1`, [
      orgId,
    ]);
  }
  await sql.query(
    `update role_bindings set start_time = now() - random() * interval '100 days' where org_id = $1 and start_time is null and random() < 0.3`,
    [orgId],
  );
}

/** Compares what is found of a random history. Returns its kinds, and how much calls have used. */
async function compareRandomHistory(): Promise<{ readonly kinds: readonly string[]; readonly used: number }> {
  const parentPath = await makeRandomOrg(api, sql);
  const { id } = await api.orgs.getOrg({ path: parentPath });
  await age(id);
  const state = await readOrg(api, parentPath);
  const permissions = [...new Set(state.custom.flatMap((role) => role.permissions)), "storage.buckets.list"];
  const projects = (await api.projects.listProjects({ parentPath })).projects.map(({ path }) => path);
  const permitted: PermittedCall[] = [];
  for (let round = 0; round < 4; round++) {
    // New ones each time: a server remembers what it has decided, and its clock does not go back.
    const deciders = [createDecider(), createDecider()];
    const decide = await Promise.all(deciders.map(({ open }) => open(id)));
    const times = Array.from({ length: 60 }, () => Math.floor(Date.now() - Math.random() ** 0.5 * 100 * dayMs));
    for (const timeMs of times.toSorted((one, other) => one - other)) {
      const call = {
        memberPath: pick(state.members).path,
        permission: pick(permissions),
        resourcePath: pick([parentPath, ...projects, ...projects]),
        timeMs,
      };
      // Some are made again on the same day.
      for (let again = Math.floor(Math.random() * 3); again >= 0; again--) {
        if (await pick(decide)(call)) permitted.push(call);
      }
    }
    // Two servers write the same at once.
    await Promise.all(deciders.map(({ flush }) => flush()));
    await Promise.all(deciders.map(({ close }) => close()));
  }
  const [recording] = await sql.query("select since_time from use_recording");
  const since = (required(recording)["since_time"] as Date).getTime();
  const kinds: string[] = [];
  let used = 0;
  for (const unusedDays of [15, 40, 80]) {
    const naive = naiveUnused(state, permitted, unusedDays, since);
    for (const pageSize of [7, 1_000]) expect(await listUnused(parentPath, unusedDays, pageSize)).toEqual(naive);
    kinds.push(...naive.map(([kind]) => kind));
    used += naiveUnused(state, [], unusedDays, since).length - naive.length;
  }
  return { kinds, used };
}

test("of a random history on two servers, all is found that no call has needed for some days, and nothing else", async () => {
  const seen = new Set<string>();
  let used = 0;
  // Two kinds at most would make a weak test, and one history in a hundred has no more.
  for (let histories = 0; histories < 10 && (used === 0 || seen.size < 3); histories++) {
    const found = await compareRandomHistory();
    for (const kind of found.kinds) seen.add(kind);
    used += found.used;
  }
  expect(used).toBeGreaterThan(0);
  expect(seen.size).toBeGreaterThan(2);
});

test("an org that has lost uses sees none of these until that day is long enough ago, and others do", async () => {
  const { path: parentPath, id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const stop = (error: unknown): never => {
    throw error;
  };
  const bounds = { pending: 10, pendingOfOrg: 1, known: 10 };
  const recorder = createUseRecorder({ database, intervalMs: 3_600_000, onError: stop, bounds });
  const daysAgo = (days: number): number => Date.now() - days * dayMs;
  for (const client of [uuidv7(), uuidv7()]) recorder.recordClient({ orgId: id, id: client }, daysAgo(20));
  await recorder.flush();
  await recorder.close();
  expect(recorder.lost()).toBe(1);
  const omitted = async (unusedDays: number) => (await operator.listFindings({ parentPath, unusedDays })).omittedKinds;
  expect(await omitted(20)).toEqual([Finding_Kind.MEMBER_UNUSED, 7, 8, 9, 10, 11]);
  expect(await omitted(19)).toEqual([]);
});

test("an org gets so many rows on a day, and what it has is written beyond", async () => {
  const { id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const stop = (error: unknown): never => {
    throw error;
  };
  const recorder = createUseRecorder({ database, intervalMs: 3_600_000, onError: stop, newOfOrg: 2 });
  const [one, two, three] = [uuidv7(), uuidv7(), uuidv7()];
  const now = Date.now();
  const use = async (some: readonly string[], time: number): Promise<void> => {
    for (const client of some) recorder.recordClient({ orgId: id, id: client }, time);
    await recorder.flush();
  };
  await use([one, two], now - dayMs);
  await use([three], now - dayMs);
  const rows = await sql.query("select used_id from access_uses where org_id = $1", [id]);
  expect(rows.map((row) => row["used_id"])).toEqual([one, two]);
  expect(recorder.lost()).toBe(1);
  await use([], now);
  const lost = await sql.query("select from access_uses where org_id = $1 and used_id = $1", [id]);
  expect(lost).toHaveLength(1);
  await recorder.close();
});

test("an org of which a write fails keeps no other one's uses waiting", async () => {
  const orgs = [
    await api.orgs.createOrg({ org: { name: uniqueName("acme") } }),
    await api.orgs.createOrg({ org: { name: uniqueName("acme") } }),
  ];
  const recorder = createUseRecorder({ database, intervalMs: 3_600_000, onError: () => {} });
  await recorder.flush();
  for (const [index, { id: orgId }] of orgs.entries()) {
    recorder.recordClient({ orgId, id: index === 0 ? "no id" : uuidv7() }, Date.now());
  }
  await expect(recorder.flush()).rejects.toThrow("uuid");
  const [, { id } = { id: "" }] = orgs;
  expect(await sql.query("select from access_uses where org_id = $1", [id])).toHaveLength(1);
  await recorder.close();
});

test("what mends each of these ends it, and says before who loses access", async () => {
  const { path: parentPath, id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { path: memberPath } = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const permissions = ["compute.instances.start", "compute.instances.stop"];
  const { path: rolePath } = await api.roles.createRole({ parentPath, role: { name: "starter", permissions } });
  const client = { name: "shop", redirectUris: ["https://shop.example.com/callback"] };
  await api.clients.createClient({ parentPath, client });
  // Each of two ways gives something that the other does not.
  for (const [inner, outer, role] of [
    ["on-call", "ops", rolePath],
    ["", "admins", "/roles/viewer"],
  ] as const) {
    for (const group of [inner, outer].filter(Boolean))
      await api.groups.createGroup({ parentPath, group: { name: group } });
    const [innerPath, outerPath] = [`${parentPath}/groups/${inner || outer}`, `${parentPath}/groups/${outer}`];
    await api.groupMembers.createGroupMember({ parentPath: innerPath, groupMember: { memberPath } });
    if (inner !== "")
      await api.groupMembers.createSubgroup({ parentPath: outerPath, subgroup: { groupPath: innerPath } });
    const roleBinding = { name: outer, rolePath: role, subjectPath: outerPath };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  await sql.query(
    `insert into access_uses (customer_id, org_id, used_id, part, last_day)
    select customer_id, org_id, id, 'compute.instances.start', date_trunc('day', now(), 'UTC') from roles where org_id = $1`,
    [id],
  );
  for (const table of ["role_bindings", "group_members", "subgroups", "roles", "clients"]) {
    await sql.query(`update ${table} set update_time = now() - interval '99 days' where org_id = $1`, [id]);
  }
  const isOfUse = (kind: Finding_Kind): boolean => kind >= Finding_Kind.ROLE_BINDING_UNUSED;
  const list = async () => (await operator.listFindings({ parentPath })).findings.filter(({ kind }) => isOfUse(kind));
  const findings = await list();
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set([7, 8, 9, 10, 11]));
  const send = ({ permissions: unused, remedy }: Finding, query: string): Promise<Response> => {
    const { fields, httpRequest } = required(remedy);
    const [method = "", url = ""] = httpRequest.split(" ");
    const kept = { permissions: permissions.filter((each) => !unused.includes(each)) };
    return fetch(`${server.url}${url}${query}`, {
      method,
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
      ...(fields.length > 0 && { body: JSON.stringify(kept) }),
    });
  };
  const losing: Record<string, number | undefined> = {};
  for (const finding of findings.filter(({ kind }) => kind !== Finding_Kind.CLIENT_UNUSED)) {
    const preview = (await (await send(finding, "?validate_only=true")).json()) as Preview;
    losing[finding.resourcePath.slice(`${parentPath}/`.length)] = preview.access_preview?.losing_member_count;
  }
  expect(losing).toEqual({
    "groups/admins/members/alice": 1,
    "groups/on-call/members/alice": 1,
    "groups/ops/subgroups/on-call": 1,
    "roleBindings/admins": 1,
    "roleBindings/ops": 1,
    "roles/starter": 1,
  });
  for (const finding of findings) expect((await send(finding, "")).ok).toBe(true);
  expect(await list()).toEqual([]);
});

interface Preview {
  readonly access_preview?: { readonly losing_member_count: number };
}
