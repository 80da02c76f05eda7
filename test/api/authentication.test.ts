// Tests authentication over every protocol, and the lifetime of an API key.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { protocols } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

describe.each(protocols)("over %s", (protocol) => {
  let operator: Api;
  let member: string;

  beforeEach(async () => {
    operator = createApi(protocol, server.url, server.operatorKey);
    const org = await operator.orgs.createOrg({ org: { name: uniqueName("acme") } });
    ({ path: member } = await operator.members.createMember({
      parentPath: org.path,
      member: { name: "deployer", type: 2 },
    }));
  });

  const createKey = async (expireTime?: Date) =>
    operator.apiKeys.createApiKey({
      parentPath: member,
      apiKey: { name: uniqueName("ci"), ...(expireTime && { expireTime: timestampFromDate(expireTime) }) },
    });
  const callWith = (apiKey: string | undefined) => createApi(protocol, server.url, apiKey).orgs.listOrgs({});

  test("a call without a token, or with a token that is not a key, is UNAUTHENTICATED", async () => {
    expect(await failureOf(callWith(undefined))).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_MISSING" });
    for (const key of [
      "x",
      "tenantry_",
      server.operatorKey.slice(0, -1),
      `${server.operatorKey}x`,
      changed(server.operatorKey),
    ]) {
      expect(await failureOf(callWith(key))).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
    }
  });

  test("a key shows its secret once, when it is created", async () => {
    const created = await createKey();
    expect(created.secret).toMatch(/^tenantry_[0-9A-Za-z]{50}$/);
    expect(created.secret?.startsWith(created.prefix)).toBe(true);
    const read = await operator.apiKeys.getApiKey({ path: created.path });
    expect(read.secret).toBeUndefined();
    expect({ ...read, secret: created.secret }).toEqual(created);
    const { apiKeys } = await operator.apiKeys.listApiKeys({ parentPath: member });
    expect(apiKeys).toEqual([read]);
  });

  test("a member without a role is authenticated and has no access, whether or not the resource exists", async () => {
    const { secret } = await createKey();
    const api = createApi(protocol, server.url, secret);
    const existing = await failureOf(api.members.getMember({ path: member }));
    const missing = await failureOf(api.members.getMember({ path: `${member}x` }));
    expect(existing).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
    expect({ ...missing, requestId: "" }).toEqual({ ...existing, requestId: "" });
    // A caller without access learns nothing about other errors in the request.
    const invalid = api.members.createMember({
      parentPath: member.slice(0, member.indexOf("/members")),
      member: { name: "!" },
    });
    expect(await failureOf(invalid)).toMatchObject({ code: "PermissionDenied" });
  });

  test("a key stops working when it, its member or its org is deleted", async () => {
    const first = await createKey();
    const second = await createKey();
    expect(await failureOf(callWith(first.secret))).toMatchObject({ code: "PermissionDenied" });
    await operator.apiKeys.deleteApiKey({ path: first.path });
    expect(await failureOf(callWith(first.secret))).toMatchObject({ code: "Unauthenticated" });
    expect(await failureOf(callWith(second.secret))).toMatchObject({ code: "PermissionDenied" });
    await operator.members.deleteMember({ path: member });
    expect(await failureOf(callWith(second.secret))).toMatchObject({ code: "Unauthenticated" });
    expect(await failureOf(createKey())).toMatchObject({ code: "NotFound" });
  });

  test("a key stops working when it expires", async () => {
    expect(await failureOf(createKey(new Date(Date.now() - 1)))).toMatchObject({ fields: ["api_key.expire_time"] });
    const { secret } = await createKey(new Date(Date.now() + 3_600_000));
    expect(await failureOf(callWith(secret))).toMatchObject({ code: "PermissionDenied" });
    await query("update api_keys set expire_time = now() where expire_time is not null");
    expect(await failureOf(callWith(secret))).toMatchObject({
      code: "Unauthenticated",
      message: "the API key has expired",
    });
  });
});

test("the secret of a key is in no table and no line of the log", async () => {
  const api = createApi("REST", server.url, server.operatorKey);
  const parentPath = "orgs/system/members/operator";
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("leak") } });
  const secretPart = secret.slice(21, -6);
  expect(secretPart).toHaveLength(32);
  const stored = await query(
    "select row_to_json(api_keys)::text as row from api_keys union all select row_to_json(changes)::text from changes",
  );
  const found = [...stored.map(({ row }) => row ?? ""), ...server.logLines].filter((text) => text.includes(secretPart));
  expect(found).toEqual([]);
  expect(stored.length).toBeGreaterThan(0);
});

test("REST responds with 401, WWW-Authenticate and an AIP-193 body", async () => {
  const missing = await fetch(`${server.url}/iam/v1alpha/orgs`);
  expect(missing.status).toBe(401);
  expect(missing.headers.get("www-authenticate")).toBe("Bearer");
  expect(await missing.json()).toMatchObject({ error: { code: 401, status: "UNAUTHENTICATED" } });
  const bad = await fetch(`${server.url}/iam/v1alpha/orgs`, { headers: { authorization: "Bearer nonsense" } });
  expect(bad.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
});

/** Returns the text with its last character changed. */
const changed = (text: string): string => text.slice(0, -1) + (text.endsWith("x") ? "y" : "x");

async function query(text: string): Promise<{ row?: string }[]> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ row?: string }>(text)).rows;
  } finally {
    await client.end();
  }
}

test.each([
  ["REST", "/iam/v1alpha/orgs"],
  ["Connect", "/iam.v1alpha.OrgsService/CreateOrg"],
])("over %s, a call without a token is refused with any body", async (_lane, path) => {
  for (const body of ["{broken", '{"no_such_field":1}', `"${"x".repeat(5_000_000)}"`]) {
    const answer = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await answer.text()).toContain("TOKEN_MISSING");
  }
});
