// Tests invalid input, malicious or mistaken: each error names the field and the rule, and nothing is stored.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ maxBodyBytes: 100_000 });
  api = createApi("Connect", server.url, server.operatorKey);
  await api.orgs.createOrg({ org: { name: "acme" } });
  await api.groups.createGroup({ parentPath: "orgs/acme", group: { name: "dev" } });
});
afterAll(() => server.close());

interface RestError {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details: readonly {
    "@type": string;
    reason?: string;
    domain?: string;
    field_violations?: { field: string; description: string }[];
    request_id?: string;
  }[];
}

interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly error: RestError;
  /** The fields that the error names. */
  readonly fields: string[];
}

interface RestRequest {
  readonly method?: string;
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

async function rest(
  path: string,
  { method = "GET", body, type = "application/json" }: RestRequest = {},
): Promise<RestAnswer> {
  const headers = {
    authorization: `Bearer ${server.operatorKey}`,
    ...(body !== undefined && { "content-type": type }),
  };
  const response = await fetch(`${server.url}/iam/v1alpha/${path}`, { method, headers, body: body ?? null });
  const { error } = (await response.json()) as { error: RestError };
  const fields = error.details.flatMap((detail) => detail.field_violations ?? []).map((violation) => violation.field);
  return { status: response.status, headers: response.headers, error, fields };
}

const post = (path: string, body: unknown) => rest(path, { method: "POST", body: JSON.stringify(body) });

describe("REST refuses", () => {
  const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
  const table: [what: string, ask: () => Promise<RestAnswer>, status: number, fields: string[], message: RegExp][] = [
    ["a name with upper case", () => rest("orgs/Acme"), 400, ["path"], /segment 2, the org, .*lowercase/],
    ["a name that starts with a dash", () => rest("orgs/-acme"), 400, ["path"], /segment 2, the org/],
    ["a name of 65 characters", () => rest(`orgs/${"a".repeat(65)}`), 400, ["path"], /1 to 64/],
    ["an id without @", () => rest(`orgs/${id}`), 400, ["path"], new RegExp(`leading @: @${id}`)],
    ["an invalid id", () => rest("orgs/@42"), 400, ["path"], /must be @ and a UUID/],
    ["- for one resource", () => rest("orgs/-"), 400, ["path"], /segment 2/],
    ["- above a name", () => rest("orgs/-/members/alice"), 400, ["path"], /before an id in a later segment/],
    [
      "- as the parent of a new resource",
      () => post("orgs/-/members", { name: "x" }),
      400,
      ["parent_path"],
      /must name one org/,
    ],
    [
      "- in the path of an update",
      () => rest(`orgs/-/members/@${id}`, { method: "PATCH", body: "{}" }),
      400,
      ["path"],
      /must name one org/,
    ],
    ["an encoded slash in a name", () => rest("orgs/acme%2Fmembers"), 400, ["path"], /the org/],
    ["an encoded slash that would make a path", () => rest("orgs/acme%2fmembers%2falice"), 400, ["path"], /the org/],
    ["a NUL in a name", () => rest("orgs/ac%00me"), 400, ["path"], /the org/],
    ["broken percent-encoding", () => rest("orgs/acme%2"), 400, [], /two hexadecimal digits/],
    ["broken UTF-8 in a path", () => rest("orgs/%ff"), 400, [], /UTF-8/i],
    ["a negative page size", () => rest("orgs?page_size=-1"), 400, ["page_size"], /greater than or equal to 0/],
    ["a page size that is not a number", () => rest("orgs?page_size=many"), 400, ["page_size"], /page_size/],
    ["a page size beyond 32 bits", () => rest("orgs?page_size=99999999999"), 400, ["page_size"], /page_size/],
    ["an invalid page token", () => rest("orgs?page_token=abc"), 400, ["page_token"], /next_page_token/],
    ["a page token of 2000 bytes", () => rest(`orgs?page_token=${"a".repeat(2000)}`), 400, ["page_token"], /1024/],
    ["an unknown query parameter", () => rest("orgs?page_sise=3"), 400, ["page_sise"], /page_sise/],
    ["a query parameter given twice", () => rest("orgs?page_size=1&page_size=2"), 400, ["page_size"], /page_size/],
    ["an unknown field", () => post("orgs", { name: "x1", nam: "y" }), 400, ["nam"], /nam/],
    ["a wrong type", () => post("orgs", { name: 7 }), 400, ["name"], /string/],
    ["a wrong type in a map", () => post("orgs", { name: "x1", labels: { a: 1 } }), 400, ['labels["a"]'], /string/],
    [
      "a wrong enum value",
      () => post("orgs/acme/members", { name: "x1", type: "ROBOT" }),
      400,
      ["type"],
      /one of USER, APPLICATION or/,
    ],
    [
      "an undefined enum number",
      () => post("orgs/acme/members", { name: "x1", type: 9 }),
      400,
      ["type"],
      /must be one of USER, APPLICATION/,
    ],
    [
      "an invalid timestamp",
      () => post("orgs/acme/groups/dev/members", { member_path: "orgs/acme/members/x", expire_time: "soon" }),
      400,
      ["expire_time"],
      /must be a time such as/,
    ],
    [
      "a day that the calendar does not have",
      () =>
        post("orgs/acme/groups/dev/members", {
          member_path: "orgs/acme/members/x",
          expire_time: "2127-02-29T00:00:00Z",
        }),
      400,
      ["expire_time"],
      /must be a time such as .*, got "2127-02-29T00:00:00Z"/,
    ],
    ["a missing name", () => post("orgs", {}), 400, ["name"], /must be set/],
    ["an empty body", () => rest("orgs", { method: "POST", body: "" }), 400, ["org"], /must be set/],
    ["a body that is not an object", () => post("orgs", [1]), 400, ["org"], /object/],
    ["a body that is not JSON", () => rest("orgs", { method: "POST", body: "{name" }), 400, [], /JSON/],
    [
      "broken UTF-8 in a body",
      () => rest("orgs", { method: "POST", body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d) }),
      400,
      [],
      /UTF-8/,
    ],
    [
      "JSON nested too deep",
      () => rest("orgs", { method: "POST", body: `{"labels":${"[".repeat(10_000)}${"]".repeat(10_000)}}` }),
      400,
      [],
      /deep|nest/,
    ],
    [
      "a body that is too large",
      () => post("orgs", { name: "x1", description: "a".repeat(200_000) }),
      413,
      [],
      /100000/,
    ],
    [
      "a body of another type",
      () => rest("orgs", { method: "POST", body: "name=x", type: "application/x-www-form-urlencoded" }),
      415,
      [],
      /application\/json/,
    ],
    ["a body on a GET", () => rest("orgs/acme", { method: "DELETE", body: "{}" }), 400, [], /body/],
    [
      "65 labels",
      () =>
        post("orgs", {
          name: "x1",
          labels: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, ""])),
        }),
      400,
      ["labels"],
      /at most 64/,
    ],
    ["an invalid label key", () => post("orgs", { name: "x1", labels: { "A b": "" } }), 400, ["labels"], /keys/],
    [
      "a mask that names no field",
      () => rest("orgs/acme?update_mask=nam", { method: "PATCH", body: "{}" }),
      400,
      ["update_mask"],
      /nam/,
    ],
    ["a method that the path does not have", () => rest("orgs", { method: "PUT", body: "{}" }), 405, [], /./],
    ["an unknown path", () => rest("organisations"), 404, [], /organisations/],
    ["a doubled slash", () => rest("orgs//members"), 404, [], /./],
  ];

  test.each(table)("%s", async (_what, ask, status, fields, message) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(answer.error.code).toBe(status);
    expect(answer.error.message).toMatch(message);
    expect(answer.fields).toEqual(fields);
    const info = answer.error.details.find((detail) => detail["@type"].endsWith("google.rpc.ErrorInfo"));
    expect(info).toMatchObject({ reason: expect.stringMatching(/^[A-Z_]+$/), domain: "iam.tenantry.dev" });
    const request = answer.error.details.find((detail) => detail["@type"].endsWith("google.rpc.RequestInfo"));
    expect(request?.request_id).toBe(answer.headers.get("x-request-id"));
  });

  test("405 lists the allowed methods", async () => {
    const { headers } = await rest("orgs", { method: "PUT", body: "{}" });
    expect(headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(["GET", "POST"]));
  });

  test("nothing of it is stored", async () => {
    const { orgs } = await api.orgs.listOrgs({});
    expect(orgs.map((org) => org.name)).toEqual(["system", "acme"]);
  });
});

describe("RPC refuses", () => {
  test("a request without its resource", async () => {
    expect(await failureOf(api.orgs.createOrg({}))).toMatchObject({ code: "InvalidArgument", fields: ["org"] });
    expect(await failureOf(api.orgs.getOrg({}))).toMatchObject({ code: "InvalidArgument", fields: ["path"] });
  });

  test("all invalid fields in one error", async () => {
    const org = { name: "X", displayName: "a".repeat(65), labels: { "?": "" } };
    const { fields } = await failureOf(api.orgs.createOrg({ org }));
    expect(fields.toSorted()).toEqual(["org.display_name", "org.labels", "org.name"]);
  });

  test("a message that is too large", async () => {
    const org = { name: uniqueName("x"), description: "a".repeat(200_000) };
    expect(await failureOf(api.orgs.createOrg({ org }))).toMatchObject({ code: "ResourceExhausted" });
  });

  test.each([
    ["no protobuf", "application/proto", "\xff\xff\xff", 400],
    ["broken JSON", "application/json", '{"org":', 400],
    ["an unknown field", "application/json", '{"nope":1}', 400],
    ["no protobuf in gRPC-Web", "application/grpc-web+proto", "\x00\x00\x00\x00\x03\xff\xff\xff", 200],
    ["another type", "application/x-unknown", "x", 415],
    ["JSON nested too deep", "application/json", `{"org":${"[".repeat(40_000)}${"]".repeat(40_000)}}`, 400],
    ["groups nested too deep", "application/proto", "\x7b".repeat(90_000), 400],
  ])("%s, and goes on", async (_what, type, body, status) => {
    const response = await fetch(`${server.url}/iam.v1alpha.OrgsService/CreateOrg`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": type },
      body: Buffer.from(body, "latin1"),
    });
    expect(response.status).toBe(status);
    await response.arrayBuffer();
    await api.orgs.getOrg({ path: "orgs/acme" });
  });
});

describe("another HTTP method than those of a path is 405, with those in Allow, and OPTIONS lists them:", () => {
  test.each([
    ["GET", "/iam.v1alpha.OrgsService/CreateOrg", "POST, OPTIONS"],
    ["PUT", "/iam.v1alpha.OrgsService/GetOrg", "GET, POST, OPTIONS"],
    ["PUT", "/grpc.health.v1.Health/Check", "POST, OPTIONS"],
    ["PUT", "/iam/v1alpha/orgs/acme", "GET, PATCH, DELETE, HEAD, OPTIONS"],
    ["GET", "/iam/v1alpha/orgs/acme:undelete", "POST, OPTIONS"],
    ["DELETE", "/openapi.json", "GET, HEAD, OPTIONS"],
    ["PUT", "/sign-in", "GET, HEAD"],
    ["GET", "/sign-out", "POST"],
    ["GET", "/oauth2/token", "POST"],
  ])("%s %s", async (method, path, allow) => {
    const response = await fetch(`${server.url}${path}`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(await response.text()).not.toBe("");
    if (!allow.includes("OPTIONS")) return;
    const options = await fetch(`${server.url}${path}`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, allow]);
  });
});

describe("accepts values at their limits:", () => {
  test("the longest name, the longest display name, the most labels", async () => {
    const labels = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`key-${index}`, "Wért".repeat(10)]));
    const displayName = "😀".repeat(448) + "a".repeat(64);
    const org = await api.orgs.createOrg({
      org: { name: "z".repeat(64), displayName, labels, description: "é".repeat(2048) },
    });
    expect(org).toMatchObject({ displayName, labels });
    expect(await api.orgs.getOrg({ path: org.path })).toEqual(org);
  });

  test("a name that looks like a path, a number or a keyword", async () => {
    for (const name of ["0", "7-eleven", "members", "null", "a--b"]) {
      const { path } = await api.members.createMember({ parentPath: "orgs/acme", member: { name } });
      expect((await api.members.getMember({ path })).name).toBe(name);
    }
  });

  test("a page size above the largest, which is read as the largest", async () => {
    const largest = await api.orgs.listOrgs({ pageSize: 1_000 });
    expect(largest.orgs.length).toBeGreaterThan(0);
    expect(await api.orgs.listOrgs({ pageSize: 2_000_000_000 })).toEqual(largest);
  });

  test("an update that changes nothing", async () => {
    const before = await api.orgs.getOrg({ path: "orgs/acme" });
    expect(await api.orgs.updateOrg({ path: "orgs/acme", org: {} })).toEqual(before);
  });
});
