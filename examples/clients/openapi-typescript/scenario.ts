// Drives a service over REST: an access token, an Org, Members, pages, a Role, a RoleBinding, a check, errors, deadlines, retries,
// a resource and its operation. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of
// the new Org.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import createClient, { type Middleware } from "openapi-fetch";
import { startSession } from "./session.ts";
import type { components, paths } from "./tenantry.ts";

type Schemas = components["schemas"];

const { TENANTRY_URL = "http://localhost:8080", TENANTRY_KEY = "", TENANTRY_ORG: org = "" } = process.env;

/** Repeats calls that the service refuses with 503. A request_id makes that safe for writes. */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let delayMs = 100; ; delayMs *= 2) {
    const response = await fetch(request.clone());
    if (response.status !== 503 || delayMs > 1_000) return response;
    await setTimeout(delayMs);
  }
}

const session = await startSession(TENANTRY_URL, TENANTRY_KEY);
const authenticate: Middleware = {
  async onRequest({ request }) {
    request.headers.set("authorization", `Bearer ${await session.accessToken()}`);
  },
};
const client = createClient<paths>({ baseUrl: TENANTRY_URL, fetch: fetchWithRetries });
client.use(authenticate);

/** Returns the data of a call that should succeed. */
async function succeed<Data>(call: Promise<{ data?: Data; error?: Schemas["Error"] }>): Promise<Data> {
  const { data, error } = await call;
  assert(data !== undefined, error?.error.message);
  return data;
}

async function refreshToken(): Promise<void> {
  const before = await session.accessToken();
  session.refreshNow();
  assert.notEqual(await session.accessToken(), before);
}

async function createOrg(): Promise<void> {
  await succeed(client.POST("/iam/v1alpha/orgs", { body: { name: org } }));
  await succeed(client.POST("/iam/v1alpha/orgs/{org}/projects", { params: { path: { org } }, body: { name: "web" } }));
  const requests = ["alice", "bob", "carol", "dave", "erin"].map((name) => ({ member: { name } }));
  await succeed(
    client.POST("/iam/v1alpha/orgs/{org}/members:batchCreate", { params: { path: { org } }, body: { requests } }),
  );
}

/** Yields all members, page by page. */
async function* listMembers(): AsyncGenerator<Schemas["Member"]> {
  let page_token: string | undefined = "";
  do {
    const query = { page_size: 2, filter: "type = USER", page_token };
    const page: Schemas["ListMembersResponse"] = await succeed(
      client.GET("/iam/v1alpha/orgs/{org}/members", { params: { path: { org }, query } }),
    );
    yield* page.members ?? [];
    page_token = page.next_page_token;
  } while (page_token);
}

async function grantAndCheck(): Promise<void> {
  const permission = "compute.instances.start";
  const role = await succeed(
    client.POST("/iam/v1alpha/orgs/{org}/roles", {
      params: { path: { org } },
      body: { name: "starter", permissions: [permission] },
    }),
  );
  await succeed(
    client.POST("/iam/v1alpha/orgs/{org}/projects/{project}/roleBindings", {
      params: { path: { org, project: "web" } },
      body: { name: "alice-starts", role_path: role.path ?? "", subject_path: `orgs/${org}/members/alice` },
    }),
  );
  const resource_path = `orgs/${org}/projects/web/instances/db-1`;
  for (const [subject, expected] of Object.entries({ alice: true, bob: false })) {
    const body = { subject_path: `orgs/${org}/members/${subject}`, permission, resource_path };
    const answer = await succeed(client.POST("/iam/v1alpha/access:check", { body }));
    assert.equal(answer.allowed, expected);
  }
}

async function readErrors(): Promise<void> {
  const { error, response } = await client.POST("/iam/v1alpha/orgs/{org}/members", {
    params: { path: { org } },
    body: { name: "Dora" },
  });
  assert.equal(response.status, 400);
  let known = 0;
  for (const detail of error?.error.details ?? []) {
    switch (detail["@type"]) {
      case "type.googleapis.com/google.rpc.ErrorInfo":
        assert.equal(detail.reason, "FIELD_INVALID");
        known++;
        break;
      case "type.googleapis.com/google.rpc.BadRequest":
        assert.equal(detail.field_violations?.[0]?.field, "name");
        known++;
        break;
    }
  }
  assert.equal(known, 2);
  // The signal comes after a millisecond, in which a Get may be done.
  const requests = Array.from({ length: 500 }, (_, index) => ({ member: { name: `m${index}` } }));
  await assert.rejects(
    client.POST("/iam/v1alpha/orgs/{org}/members:batchCreate", {
      params: { path: { org } },
      body: { requests, validate_only: true },
      signal: AbortSignal.timeout(0),
    }),
    { name: "TimeoutError" },
  );
}

/** A repeated request_id gets the response of the first request: nothing is created twice. */
async function repeat(): Promise<void> {
  const params = { path: { org }, query: { request_id: randomUUID() } };
  const create = () => succeed(client.POST("/iam/v1alpha/orgs/{org}/groups", { params, body: { name: "sre" } }));
  assert.equal((await create()).id, (await create()).id);
}

async function createVolume(): Promise<void> {
  const project = { org, project: "web" };
  let operation: Schemas["Operation"] = await succeed(
    client.POST("/resources/v1alpha/orgs/{org}/projects/{project}/resources", {
      params: { path: project },
      body: {
        name: "disk-1",
        type_path: "/services/storage/resourceTypes/volumes",
        quantities: { instance_storage: 10_000_000 },
      },
    }),
  );
  while (!operation.done) {
    const id = operation.path?.split("/").at(-1) ?? "";
    operation = await succeed(
      client.POST("/resources/v1alpha/orgs/{org}/projects/{project}/operations/{operation}:wait", {
        params: { path: { ...project, operation: id } },
        body: { timeout: "10s" },
      }),
    );
  }
  assert.equal(operation.state, "SUCCEEDED");
}

await createOrg();
await refreshToken();
const names = (await Array.fromAsync(listMembers())).map(({ name }) => name);
assert.deepEqual(names, ["alice", "bob", "carol", "dave", "erin"]);
await grantAndCheck();
await readErrors();
await repeat();
await createVolume();
console.log("openapi-typescript: all is well");
