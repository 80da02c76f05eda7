// Tests the areas of the API: each package of the protos is one, with a prefix for its REST paths and one for its RPC paths.
import { beforeAll, describe, expect, test } from "vitest";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const areas = ["/iam/v1alpha/", "/resources/v1alpha/"];
const hint = `paths begin with an area and its version: ${areas.join(", ")}`;

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${server.operatorKey}` } });

async function messageOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string } };
  return error.message;
}

describe("the page /", () => {
  test("lists the areas, without a key", async () => {
    const response = await fetch(`${server.url}/`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      areas,
      documentation: "/docs",
      openapi: "/openapi.json",
      protos: "/protos.tar.gz",
      descriptors: "/descriptors.binpb",
    });
    for (const page of ["/docs", "/openapi.json"]) expect((await fetch(server.url + page)).status).toBe(200);
  });

  test("is read-only", async () => {
    expect((await fetch(`${server.url}/`, { method: "HEAD" })).status).toBe(200);
    const response = await fetch(`${server.url}/`, { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

describe("a path", () => {
  test.each(["/iam/v1alpha/orgs", "/resources/v1alpha/services", "/resources/v1alpha/quantityKinds"])(
    "of an area is served: %s",
    async (path) => {
      expect((await ask(path)).status).toBe(200);
    },
  );

  test.each([
    "/iam/v2/orgs",
    "/nonsense/v1alpha/x",
    "/resources/services",
    "/orgs/acme",
    "/resources/v1alpha",
    "/resources.v2.ServicesService/GetService",
  ])("that is in none says which there are: %s", async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(404);
    expect(await messageOf(response)).toBe(`nothing is served at "${path}"; ${hint}`);
  });

  test.each([
    ["/resources/v1alpha/nothing", "/resources/v1alpha", "orgs, qualityKinds, quantityKinds, services"],
    [
      "/iam/v1alpha/orgs/acme/members/alice/apiKey",
      "/iam/v1alpha/orgs/acme/members/alice",
      "apiKeys, identities, sessions",
    ],
    ["/iam/v1alpha/orgs//members", "/iam/v1alpha/orgs", ""],
  ])("that is in an area says what could follow: %s", async (path, reached, next) => {
    const response = await ask(path, { method: "POST" });
    expect(response.status).toBe(404);
    const offered = next === "" ? "" : `; after "${reached}" can be ${next}`;
    expect(await messageOf(response)).toBe(`nothing is served at "${path}"${offered}`);
  });

  test.each([
    [
      "POST",
      "suspnd",
      "GET, PATCH, DELETE, HEAD, OPTIONS",
      "activate, erase, impersonate, purge, revokeTokens, sendInvitation, suspend, undelete",
    ],
    ["PUT", "suspend", "POST, OPTIONS", ""],
  ])("that ends with an unknown verb says which there are: %s :%s", async (method, verb, allowed, verbs) => {
    const response = await ask(`/iam/v1alpha/orgs/acme/members/alice:${verb}`, { method });
    expect(response.status).toBe(405);
    const offered = verbs === "" ? "" : `; after the last ":" can be ${verbs}`;
    expect(await messageOf(response)).toBe(`"${method}" is not allowed here; allowed are ${allowed}${offered}`);
  });

  test.each([
    ["/iam/v1alpha/access:chek", "batchCheck, check, explain, listResources, listSubjects, testPermissions"],
    ["/iam/v1alpha/orgs/acme/members:batchCreat", "batchCreate, batchDelete, batchGet, invite"],
  ])("that ends with an unknown verb and is no resource says which there are: %s", async (path, verbs) => {
    const response = await ask(path, { method: "POST" });
    expect(response.status).toBe(404);
    expect(await messageOf(response)).toBe(`nothing is served at "${path}"; after the last ":" can be ${verbs}`);
  });

  test.each(["/resources.v1alpha.ServicesService/BuildService", "/iam.v1alpha.ServicesService/GetService"])(
    "of an RPC that there is not says no more: %s",
    async (path) => {
      const response = await ask(path, { method: "POST" });
      expect(response.status).toBe(404);
      expect(await messageOf(response)).toBe(`nothing is served at "${path}"`);
    },
  );
});

test("the OpenAPI document has the paths of all areas", async () => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const starts = new Set(Object.keys(paths).map((path) => /^\/[^/]+\/[^/]+\//.exec(path)?.[0]));
  expect([...starts]).toEqual(expect.arrayContaining(areas));
  expect(Object.keys(paths)).toContain("/resources/v1alpha/services/{service}/resourceTypes");
});
