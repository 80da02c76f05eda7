// A key that somebody else makes for a person counts nothing that the person is granted later, until it is confirmed.
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { openRaw, parseAnswer } from "../http/raw-client.ts";
import {
  type Keyed,
  type KeyedCast,
  confirm,
  createKeyedCast,
  expectExceeds,
  expectLacks,
  inHours,
  keysAdmin,
  owner,
  viewer,
  wanted,
} from "./keyed-cast.ts";
import { type CastMember, type OrgCast } from "./org-cast.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

let cast: OrgCast;
let org: string;
let mallory: CastMember;
let alice: CastMember;
let makeKey: KeyedCast["makeKey"];
let createProject: KeyedCast["createProject"];
beforeEach(async () => {
  ({ cast, org, mallory, alice, makeKey, createProject } = await createKeyedCast(server));
});

/** A role with what is wanted, which mallory holds. */
const heldRole = async (): Promise<string> => {
  const role = await cast.role(uniqueName("worker"), wanted, "iam.apiKeys.confirm");
  await cast.grant(org, mallory.path, role);
  return role;
};

/** Prepares what alice holds when the key is made, and answers what gives her more later. */
const ways: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  "a role binding": () => Promise.resolve(() => cast.grant(org, alice.path, owner)),

  "a group that she joins": async () => {
    const group = await cast.group("owners", owner);
    return () => cast.join(group, alice.path);
  },

  "a role binding of her group": async () => {
    const group = await cast.group("team");
    await cast.join(group, alice.path);
    return () => cast.grant(org, group, owner);
  },

  "a group in which hers is nested": async () => {
    const [outer, middle, inner] = [await cast.group("owners", owner), await cast.group("m"), await cast.group("i")];
    await cast.nest(middle, inner);
    await cast.join(inner, alice.path);
    return () => cast.nest(outer, middle);
  },

  "a role that is widened": async () => {
    const path = await cast.role("reader", "iam.apiKeys.confirm");
    await cast.grant(org, alice.path, path);
    return () => cast.api.roles.updateRole({ path, role: { permissions: ["iam.apiKeys.confirm", wanted] } });
  },

  "a role binding that is extended": async () => {
    const path = await cast.grant(org, alice.path, await heldRole(), { expireTime: inHours(1) });
    return () => cast.api.roleBindings.updateRoleBinding({ path, roleBinding: { expireTime: inHours(99) } });
  },

  "a role binding that loses its condition": async () => {
    const path = await cast.grant(org, alice.path, await heldRole(), { condition: "context.vip" });
    const updateMask = { paths: ["condition"] };
    return () => cast.api.roleBindings.updateRoleBinding({ path, roleBinding: {}, updateMask });
  },

  "a membership that is extended": async () => {
    const parentPath = await cast.group("workers", await heldRole());
    const groupMember = { memberPath: alice.path, expireTime: inHours(1) };
    const { path } = await cast.api.groupMembers.createGroupMember({ parentPath, groupMember });
    return () => cast.api.groupMembers.updateGroupMember({ path, groupMember: { expireTime: inHours(99) } });
  },
};

const confirming: readonly ("she" | "an owner")[] = ["she", "an owner"];

describe.each(Object.entries(ways))("what she gets later by %s", (_way, prepare) => {
  test.each(confirming)("counts when %s has confirmed the key", async (who) => {
    const grant = await prepare();
    const limited = await makeKey(mallory, alice.path);
    expect(limited.key.limited).toBe(true);
    await grant();
    await expectLacks(createProject(limited));
    await createProject(alice);
    await expectExceeds(confirm(mallory, limited.key));
    await expectLacks(createProject(limited));
    const confirmed = await confirm(who === "she" ? alice : await cast.member("olga", owner), limited.key);
    expect(confirmed).toMatchObject({ path: limited.key.path, limited: false });
    await createProject(limited);
  });
});

test("what she holds when the key is made counts, through groups too, and what she loses does not", async () => {
  const role = await heldRole();
  const [outer, inner] = [await cast.group("outer", role), await cast.group("inner")];
  await cast.nest(outer, inner);
  const membership = await cast.join(inner, alice.path);
  const limited = await makeKey(mallory, alice.path);
  await createProject(limited);
  // Another way to the same binding changes nothing.
  await cast.join(outer, alice.path);
  await createProject(limited);
  await cast.api.groupMembers.deleteGroupMember({ path: membership });
  await createProject(alice);
  await expectLacks(createProject(limited));
});

test("what is granted on the customer later is not counted by an owner of the org, who lacks it", async () => {
  const limited = await makeKey(mallory, alice.path);
  await cast.grant(cast.org.customerPath, alice.path, owner);
  const olga = await cast.member("olga", owner);
  await expectLacks(createProject(limited));
  await expectExceeds(confirm(olga, limited.key));
  await confirm(alice, limited.key);
  await createProject(limited);
});

test("a limited key does not rename an org by what was granted on the platform later", async () => {
  // On the platform, roles are granted only to members of this org.
  const system = "/orgs/system";
  const role = { name: uniqueName("renamer"), permissions: ["iam.orgs.update"] };
  const { path: renamer } = await cast.api.roles.createRole({ parentPath: system, role });
  const join = async (): Promise<Keyed> => {
    const { path } = await cast.api.members.createMember({ parentPath: system, member: { name: uniqueName("m") } });
    await cast.grant(system, path, renamer);
    return makeKey(cast, path);
  };
  const [sara, sam] = [await join(), await join()];
  await cast.grant(system, sam.path, keysAdmin);
  const limited = await makeKey(sam, sara.path);
  await cast.grant("", sara.path, owner);
  const rename = ({ api }: Keyed) => api.orgs.updateOrg({ path: system, org: { name: "renamed" }, validateOnly: true });
  expect(await failureOf(rename(limited))).toMatchObject({
    code: "PermissionDenied",
    metadata: { permission: "iam.orgs.create" },
  });
  await rename(sara);
});

test("a decision costs one statement with a limited key, and none with another", async () => {
  await cast.grant(org, alice.path, keysAdmin);
  const limited = await makeKey(mallory, alice.path);
  const unlimited = await makeKey(alice, alice.path);
  const countOf = async ({ api }: Keyed, call: () => Promise<unknown>, expected: number): Promise<number> => {
    const counts: number[] = [];
    // The fewest, because other work of the server has statements, too: on a busy machine it takes some rounds until there is none.
    for (let round = 0; round < 6 || (round < 60 && Math.min(...counts) > expected); round++) {
      // The first call after a change reads the change.
      await api.apiKeys.getApiKey({ path: unlimited.key.path });
      const query = vi.spyOn(pg.Client.prototype, "query");
      await call();
      // Hints to other servers are sent beside the calls.
      counts.push(query.mock.calls.filter(([text]: readonly unknown[]) => !String(text).includes("pg_notify")).length);
      query.mockRestore();
    }
    return Math.min(...counts);
  };
  const countsOf = async (keyed: Keyed, expected: { get: number; update: number }) => ({
    get: await countOf(keyed, () => keyed.api.apiKeys.getApiKey({ path: unlimited.key.path }), expected.get),
    update: await countOf(
      keyed,
      () => keyed.api.apiKeys.updateApiKey({ path: limited.key.path, apiKey: { displayName: uniqueName("k") } }),
      expected.update,
    ),
  });
  // The key with the head of the org, and the row; a write decides again under its lock. Its deadline is sent with its beginning.
  for (const [keyed, expected] of [
    [unlimited, { get: 2, update: 8 }],
    [limited, { get: 3, update: 10 }],
  ] as const) {
    expect(await countsOf(keyed, expected)).toEqual(expected);
  }
});

test("neither questions, lists, searches nor previews count more", async () => {
  const { customerPath } = cast.org;
  const other = await cast.api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } });
  const bob = await cast.api.members.createMember({ parentPath: other.path, member: { name: "bob" } });
  await cast.grant(customerPath, bob.path, viewer);
  const starts = await cast.role("starts", "compute.instances.start");
  const group = await cast.group("starters", starts);
  const checks = await cast.role("checks", "iam.access.check", "iam.groupMembers.create", "compute.instances.start");
  for (const { path } of [alice, mallory]) await cast.grant(org, path, checks);
  const limited = await makeKey(mallory, alice.path);
  await cast.grant(customerPath, alice.path, viewer);

  const ask = async ({ api, access }: CastMember) => {
    const permissions = ["iam.access.check", "iam.orgs.get"];
    const held = await access.testPermissions({ resourcePath: org, permissions });
    // About somebody of another org of the customer.
    const question = { subjectPath: bob.path, permission: "iam.orgs.get", resourcePath: org };
    const { allowed } = await access.checkAccess(question);
    const listed = await api.orgs.listOrgs({}).then(
      ({ orgs }) => orgs.length,
      () => 0,
    );
    const groupMember = { memberPath: mallory.path };
    const request = { parentPath: group, groupMember, validateOnly: true };
    const { accessPreview } = await api.groupMembers.createGroupMember(request);
    return { held: held.permissions, allowed, listed, trimmed: accessPreview?.trimmed };
  };
  const all = { held: ["iam.access.check", "iam.orgs.get"], allowed: true, listed: 2, trimmed: false };
  expect(await ask(limited)).toEqual({ held: ["iam.access.check"], allowed: false, listed: 0, trimmed: true });
  expect(await ask(alice)).toEqual(all);
  await confirm(cast, limited.key);
  expect(await ask(limited)).toEqual(all);
});

/** A role that alice has held since before the key was made, and what widens it. */
async function makeWidened(): Promise<{
  limited: Keyed;
  widen: () => Promise<unknown>;
  narrow: () => Promise<unknown>;
}> {
  const path = await cast.role("reader", "iam.apiKeys.get");
  await cast.grant(org, alice.path, path);
  const update = (...permissions: string[]) => cast.api.roles.updateRole({ path, role: { permissions } });
  return {
    limited: await makeKey(mallory, alice.path),
    widen: () => update("iam.apiKeys.get", wanted, "iam.projects.list"),
    narrow: () => update("iam.apiKeys.get"),
  };
}

test("a call that was authenticated before the grant, and has sent the rest after it, does not count it", async () => {
  const { limited, widen } = await makeWidened();
  const [sql, locking] = [await openSqlClient(server.databaseUrl), await openSqlClient(server.databaseUrl)];
  const connection = await openRaw(Number(new URL(server.url).port));
  try {
    await locking.query("begin");
    await locking.query("lock table api_keys in access exclusive mode");
    const body = '{"name": "web"}';
    connection.socket.write(
      `POST /iam/v1alpha${org}/projects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${limited.key.secret}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    const stateOf = async (condition: string, ...values: unknown[]) => {
      const text = `select pid, state from pg_stat_activity where datname = current_database() and ${condition}`;
      return (await sql.query(text, values))[0];
    };
    let reading: Record<string, unknown> | undefined;
    while (reading === undefined) reading = await stateOf("wait_event_type = 'Lock'");
    await locking.query("rollback");
    while ((await stateOf("pid = $1", reading["pid"]))?.["state"] !== "idle");
    await widen();
    connection.socket.write(body.slice(5));
    await connection.until("PERMISSION_DENIED");
    expect(parseAnswer(connection.received()).status).toBe(403);
  } finally {
    connection.socket.destroy();
    await Promise.all([sql.close(), locking.close()]);
  }
});

test(
  "while roles are widened and narrowed again, no call counts what is granted",
  async () => {
    const { limited, widen, narrow } = await makeWidened();
    const outcomes = new Set<string>();
    const race = { ended: false };
    const call = async (attempt: () => Promise<unknown>): Promise<void> => {
      while (!race.ended) {
        const code = await attempt().then(
          () => "done",
          async (error: unknown) => (await failureOf(Promise.reject(error))).code ?? "",
        );
        outcomes.add(code);
      }
    };
    const lists = () => limited.api.projects.listProjects({ parentPath: org });
    const calls = [call(lists), call(lists), call(lists), call(() => createProject(limited))];
    for (let round = 0; round < rounds(4, 500); round++) {
      await widen();
      await narrow();
    }
    race.ended = true;
    await Promise.all(calls);
    // A call may be told to try again.
    outcomes.delete("Unavailable");
    expect([...outcomes]).toEqual(["PermissionDenied"]);
  },
  soakTimeoutMs,
);
