// Who makes keys that are limited, who confirms them, and what shows that a key is limited.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";
import {
  type Keyed,
  type KeyedCast,
  admin,
  confirm,
  createKeyedCast,
  expectExceeds,
  expectLacks,
  inHours,
  keysAdmin,
  owner,
  viewer,
} from "./keyed-cast.ts";
import { type CastMember, type OrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

let cast: OrgCast;
let org: string;
let mallory: CastMember;
let alice: CastMember;
let makeKey: KeyedCast["makeKey"];
let createProject: KeyedCast["createProject"];
beforeEach(async () => {
  ({ cast, org, mallory, alice, makeKey, createProject } = await createKeyedCast(server));
});

describe("a key of a person is limited when it is made by", () => {
  const makers: Readonly<Record<string, () => Promise<Pick<CastMember, "api">>>> = {
    "an admin": () => cast.member("adam", admin),
    "an owner for a time": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(org, otto.path, owner, { expireTime: inHours(1) });
      return otto;
    },
    "an owner under a condition": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(org, otto.path, owner, { condition: "request.time > timestamp('2020-01-01T00:00:00Z')" });
      return otto;
    },
    "a member who may grant what it does not hold": async () =>
      cast.member("rita", keysAdmin, await cast.role("registrar", "iam.roleBindings.grantUnheld")),
    "an owner of a project": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(await cast.project("web"), otto.path, owner);
      return otto;
    },
  };

  test.each(Object.entries(makers))("%s", async (_name, maker) => {
    const limited = await makeKey(await maker(), alice.path);
    expect(limited.key.limited).toBe(true);
    await cast.grant(org, alice.path, viewer);
    await expectLacks(limited.api.projects.listProjects({ parentPath: org }));
  });
});

test("a key is not limited when an owner, the operator or the member makes it", async () => {
  const olga = await cast.member("olga", owner);
  const oscar = await cast.member("oscar");
  await cast.join(await cast.group("owners", owner), oscar.path);
  for (const maker of [olga, oscar, cast]) expect((await makeKey(maker, alice.path)).key.limited).toBe(false);
  await cast.grant(org, alice.path, keysAdmin);
  const own = await makeKey(alice, alice.path);
  expect(own.key.limited).toBe(false);
  await cast.grant(org, alice.path, owner);
  await createProject(own);
});

describe("confirming", () => {
  test("is refused to holders of the permission who are neither the member nor an owner", async () => {
    const limited = await makeKey(mallory, alice.path);
    const rita = await cast.member("rita", admin, await cast.role("unheld", "iam.roleBindings.grantUnheld"));
    for (const caller of [rita, mallory]) {
      const failure = await failureOf(confirm(caller, limited.key));
      expect(failure).toMatchObject({
        code: "PermissionDenied",
        reason: "GRANT_EXCEEDS_OWN",
        message:
          "an API key is confirmed by its member or by an owner of the org, with an API key that is not limited itself",
        metadata: { role: owner },
      });
    }
    // Also of a key that is not limited.
    await expectExceeds(confirm(mallory, (await makeKey(cast, alice.path)).key));
    // The member needs the permission, too.
    expect(await failureOf(confirm(alice, limited.key))).toMatchObject({
      metadata: { permission: "iam.apiKeys.confirm" },
    });
    expect((await cast.api.apiKeys.getApiKey({ path: limited.key.path })).limited).toBe(true);
  });

  test("of a key that is not limited changes nothing, and of one that is missing fails", async () => {
    const { key } = await makeKey(cast, alice.path);
    const { secret: _secret, ...shown } = key;
    expect(await confirm(cast, key)).toEqual(shown);
    const path = `${alice.path}/apiKeys/none`;
    expect(await failureOf(cast.api.apiKeys.confirmApiKey({ path }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });

  test("takes an etag and a request id, and can be only checked", async () => {
    const { key } = await makeKey(mallory, alice.path);
    expect(await confirm(cast, key, { validateOnly: true })).toMatchObject({ limited: false });
    expect(await cast.api.apiKeys.getApiKey({ path: key.path })).toMatchObject({ limited: true, etag: key.etag });
    expect(await failureOf(confirm(cast, key, { etag: cast.org.etag }))).toMatchObject({ reason: "ETAG_STALE" });
    const requestId = crypto.randomUUID();
    const confirmed = await confirm(cast, key, { etag: key.etag, requestId });
    expect(confirmed.limited).toBe(false);
    expect(await confirm(cast, key, { etag: key.etag, requestId })).toEqual(confirmed);
  });

  test("is in the change log, with the limit before and after", async () => {
    const { key } = await makeKey(mallory, alice.path);
    await confirm(cast, key);
    const sql = await openSqlClient(server.databaseUrl);
    const logged = await sql.query(
      `select method, before->>'grants_until' as before, after->>'grants_until' as after from changes
       where resource_id = $1 order by revision`,
      [key.id],
    );
    await sql.close();
    expect(logged).toEqual([
      { method: "iam.v1alpha.ApiKeysService/CreateApiKey", before: null, after: key.etag },
      { method: "iam.v1alpha.ApiKeysService/ConfirmApiKey", before: key.etag, after: null },
    ]);
  });
});

test("lists can be filtered by it, and no update changes it", async () => {
  const { key } = await makeKey(mallory, alice.path);
  const paths = async (filter: string) => {
    const { apiKeys } = await cast.api.apiKeys.listApiKeys({ parentPath: alice.path, filter });
    return apiKeys.map(({ path }) => path);
  };
  expect(await paths("limited = true")).toEqual([key.path]);
  expect(await paths("limited = false")).toHaveLength(1);
  const apiKey = { name: key.name, displayName: "Free", limited: false };
  const updated = await mallory.api.apiKeys.updateApiKey({ path: key.path, apiKey, updateMask: { paths: ["*"] } });
  expect(updated).toMatchObject({ displayName: "Free", limited: true });
});

describe("of an application", () => {
  let robot: string;
  let key: Keyed;
  beforeEach(async () => {
    const member = { name: "robot", type: Member_Type.APPLICATION };
    robot = (await cast.api.members.createMember({ parentPath: org, member })).path;
    key = await makeKey(mallory, robot);
  });

  test("a key counts what the application gains", async () => {
    expect(key.key.limited).toBe(false);
    await cast.grant(org, robot, owner);
    await createProject(key);
  });

  test("the keys are named by the preview of what gives it more, and no other keys", async () => {
    const second = await makeKey(cast, robot, { name: "a-second" });
    const expiring = await makeKey(cast, robot, { expireTime: inHours(1) });
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update api_keys set expire_time = now() where id = $1", [expiring.key.id]);
    await sql.close();
    await makeKey(mallory, alice.path);
    const group = await cast.group("viewers", viewer);
    const requests = [alice.path, robot].map((memberPath) => ({ groupMember: { memberPath } }));
    const preview = async ({ api }: Pick<CastMember, "api">) => {
      const answer = await api.groupMembers.batchCreateGroupMembers({
        parentPath: group,
        requests,
        validateOnly: true,
      });
      return answer.accessPreview;
    };
    expect(await preview(cast)).toMatchObject({
      gainingMemberCount: 2,
      apiKeyPaths: [second.key.path, key.key.path],
    });
    await cast.api.groupMembers.batchCreateGroupMembers({ parentPath: group, requests });
    const loses = await cast.api.groups.deleteGroup({ path: group, validateOnly: true });
    expect(loses.accessPreview).toMatchObject({ losingMemberCount: 2, apiKeyPaths: [] });
  });

  test("the preview shows them only to callers who may list keys", async () => {
    const seeing = await cast.role("seeing", "iam.access.explain", "iam.access.list", "iam.roleBindings.create");
    const carl = await cast.member("carl", seeing);
    const preview = async () => {
      const roleBinding = { name: "b", subjectPath: robot, rolePath: seeing };
      const request = { parentPath: org, roleBinding, validateOnly: true };
      return (await carl.api.roleBindings.createRoleBinding(request)).accessPreview;
    };
    expect(await preview()).toMatchObject({ gainingMemberCount: 1, apiKeyPaths: [] });
    await cast.grant(org, carl.path, await cast.role("lists-keys", "iam.apiKeys.list"));
    expect(await preview()).toMatchObject({ gainingMemberCount: 1, apiKeyPaths: [key.key.path] });
  });
});

test.each(overFirst(["REST", "Connect"]))("over %s, a key is made, limited, confirmed and used", async (protocol) => {
  const as = (secret = ""): CastMember => ({ ...alice, api: createApi(protocol, server.url, secret) });
  const maker = as((await makeKey(cast, mallory.path)).key.secret);
  const limited = await makeKey(maker, alice.path);
  await cast.grant(org, alice.path, owner);
  const attacker = as(limited.key.secret);
  await expectLacks(createProject(attacker));
  await expectExceeds(confirm(maker, limited.key));
  const member = as((await makeKey(cast, alice.path)).key.secret);
  expect((await confirm(member, limited.key)).limited).toBe(false);
  await createProject(attacker);
});

test("a member with more role bindings than a limited key can count gets keys only from owners and itself", async () => {
  const group = await cast.group("many");
  await cast.join(group, alice.path);
  const roleBindings = Array.from({ length: 1001 }, (_, index) => ({
    roleBinding: { name: `b-${index}`, subjectPath: group, rolePath: keysAdmin },
  }));
  const parentPath = org;
  await cast.api.roleBindings.batchCreateRoleBindings({ parentPath, requests: roleBindings.slice(0, 1000) });
  await cast.api.roleBindings.batchCreateRoleBindings({ parentPath, requests: roleBindings.slice(1000) });
  const create = (api = mallory.api) =>
    api.apiKeys.createApiKey({ parentPath: alice.path, apiKey: { name: uniqueName("key") } });
  expect(await failureOf(create())).toMatchObject({ code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" });
  for (const api of [alice.api, cast.api]) expect((await create(api)).limited).toBe(false);
  await cast.api.roleBindings.deleteRoleBinding({ path: `${org}/roleBindings/b-7` });
  const { limited, secret } = await create();
  expect(limited).toBe(true);
  await createApi("gRPC", server.url, secret).apiKeys.listApiKeys({ parentPath: alice.path });
});
