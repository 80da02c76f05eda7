// Compares gen/openapi.json with the routes of a running server.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import pMap from "p-map";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenApiDocument, Operation } from "../../../src/rest/openapi/openapi-document.ts";
import { readHttpRules } from "../../../src/rest/routing/http-rules.ts";
import { describedServices } from "../../../src/rpc/services.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

const file = new URL("../../../gen/openapi.json", import.meta.url);
const document = JSON.parse(readFileSync(file, "utf8")) as OpenApiDocument;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([httpMethod, operation]) => ({
    path,
    httpMethod: httpMethod.toUpperCase(),
    operation: operation as Operation,
  })),
);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Does something for each item, some at once: calls that do not change what the others are answered. */
async function eachOf<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  await pMap(items, run, { concurrency: 8 });
}

/** Replaces each parameter with an example. */
function fill(path: string): string {
  return path.replace(/\{\w+\}/g, "acme");
}

test("every operation has a route, and its path has no other methods", async () => {
  await eachOf(Object.entries(document.paths), async ([path, item]) => {
    const { status, headers } = await fetch(server.url + fill(path), { method: "OPTIONS" });
    expect([path, status]).toEqual([path, 204]);
    const allowed = (headers.get("allow") ?? "").split(", ").filter((name) => name !== "HEAD" && name !== "OPTIONS");
    const described = Object.keys(item).map((name) => name.toUpperCase());
    // A wildcard also matches a segment with a colon, so a path with a verb may also match a rule without one.
    if (/\}:\w+$/.test(path)) expect([path, allowed]).toEqual([path, expect.arrayContaining(described)]);
    else expect([path, allowed.toSorted()]).toEqual([path, described.toSorted()]);
  });
});

test("the operations are exactly the rules of all services that it describes", () => {
  // The path of each rule, with "*" for each wildcard and parameter.
  const routed = describedServices.flatMap((service) =>
    service.methods.flatMap((method) =>
      readHttpRules(method).map(({ httpMethod, path }) => {
        return `${httpMethod} ${path.replace(/\{\w+=([^}]*)\}/g, "$1").replace(/\{\w+\}/g, "*")}`;
      }),
    ),
  );
  const described = operations.map(({ path, httpMethod }) => `${httpMethod} ${path.replace(/\{\w+\}/g, "*")}`);
  expect(described.toSorted()).toEqual(routed.toSorted());
});

test("the ids of operations have no numbers, and name their methods", () => {
  const names = describedServices.flatMap((service) => service.methods.map(({ name }) => name));
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids.filter((id) => /\d/.test(id))).toEqual([]);
  expect(ids).toEqual(expect.arrayContaining(["getOrgRole", "getRole", "listProjectRoleBindings", "updateOrgQuota"]));
  // Each method has an operation whose id begins with its verb and ends with its noun.
  for (const name of names) {
    const [, verb = "", noun = ""] = /^((?:Batch)?[A-Z][a-z]*)(.*)$/.exec(name) ?? [];
    const pattern = new RegExp(`^([a-z]+)?${verb}\\w*${noun}$`, "i");
    expect(
      ids.some((id) => pattern.test(id)),
      name,
    ).toBe(true);
  }
});

test("every operation requires the documented credentials", async () => {
  await eachOf(operations, async ({ path, httpMethod, operation }) => {
    const response = await fetch(server.url + fill(path), { method: httpMethod });
    // An operation without credentials reads the body.
    const expected = operation.security === undefined ? 401 : 400;
    expect([operation.operationId, response.status]).toEqual([operation.operationId, expected]);
    expect(operation.responses).toHaveProperty("401");
  });
});

test("the server accepts documented query parameters and rejects others", async () => {
  const headers = { authorization: `Bearer ${server.operatorKey}` };
  const reads = operations.filter(({ httpMethod }) => httpMethod === "GET");
  await eachOf(reads, async ({ path, httpMethod, operation }) => {
    const query = new URLSearchParams();
    for (const parameter of operation.parameters) {
      if (!("name" in parameter) || parameter.in !== "query") continue;
      const type = parameter.schema?.type;
      query.append(parameter.name, type === "string" ? "x" : type === "boolean" ? "true" : "1");
    }
    // One error names all that is wrong with a query.
    query.append("no_such", "1");
    const response = await fetch(`${server.url}${fill(path)}?${query.toString()}`, { method: httpMethod, headers });
    expect([operation.operationId, response.status]).toEqual([operation.operationId, 400]);
    const { error } = (await response.json()) as { error: { details: { field_violations?: Violation[] }[] } };
    const violations = error.details.flatMap(({ field_violations: found = [] }) => found);
    const unknown = violations.filter(({ description }) => description.includes("is not a parameter"));
    expect([operation.operationId, unknown.map(({ field }) => field)]).toEqual([operation.operationId, ["no_such"]]);
  });
});

interface Violation {
  readonly field: string;
  readonly description: string;
}

test("the examples of errors match the responses of the server", async () => {
  const response = await fetch(`${server.url}/iam/v1alpha/orgs`);
  const { error } = (await response.json()) as { error: { message: string; details: { reason?: string }[] } };
  const example = document.components.responses["UnauthenticatedError"]?.content?.["application/json"]?.examples;
  const value = example?.["TOKEN_MISSING"]?.value as { error: typeof error };
  expect(error.message).toBe(value.error.message);
  expect(error.details.map(({ reason }) => reason)).toEqual(value.error.details.map(({ reason }) => reason));
});

test("the examples of creations are taken one after the other", async () => {
  const create = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" };
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return [path, response.status, response.ok ? "" : await response.text()];
  };
  const named = (operationId: string) => {
    const found = operations.find(({ operation }) => operation.operationId === operationId);
    if (found === undefined) throw new Error(`no operation ${operationId}`);
    const { path, operation } = found as { path: string; operation: ExampleOperation };
    const values = new Map(operation.parameters.map(({ name, example }) => [name, example]));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? `no example of ${name}`);
    return create(filled, operation.requestBody?.content["application/json"].example);
  };
  const accepted = expect.arrayContaining([201, ""]) as unknown;
  for (const id of ["createOrg", "createProject", "createMember", "createGroup"])
    expect(await named(id)).toEqual(accepted);
  // The examples of what is in others are about other ones than these.
  expect(await create("/iam/v1alpha/orgs/acme/members", { name: "deployer", type: "APPLICATION" })).toEqual(accepted);
  expect(await create("/iam/v1alpha/orgs/acme/groups", { name: "engineering" })).toEqual(accepted);
  const others = [
    "GroupMember",
    "Subgroup",
    "Role",
    "OrgRoleBinding",
    "ApiKey",
    "QuantityKind",
    "QualityKind",
    "Service",
  ];
  for (const noun of [...others, "ResourceType"]) expect(await named(`create${noun}`)).toEqual(accepted);
});

test("no example of a body is invalid", async () => {
  const invalid: unknown[] = [];
  await eachOf(operations, async ({ path, httpMethod, operation }) => {
    const { operationId, parameters, requestBody } = operation as ExampleOperation & { operationId: string };
    const example = requestBody?.content["application/json"].example;
    // RoleBindings, Contacts and Webhooks have several places, and their examples are of one of them.
    if (example === undefined || /RoleBinding|CustomerContact|CustomerWebhook/.test(operationId)) return;
    const values = new Map(parameters.map((each) => [each.name, each.example]));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? "acme");
    const headers = { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" };
    // The same request id is for the same request.
    const body = JSON.stringify(example, (key, value: unknown) => (key === "request_id" ? randomUUID() : value));
    const request = { method: httpMethod, headers, body };
    const response = await fetch(server.url + filled, request);
    const text = await response.text();
    if (text.includes("INVALID_ARGUMENT")) invalid.push([operationId, example, text]);
  });
  expect(invalid).toEqual([]);
});

interface ExampleOperation {
  readonly parameters: readonly { readonly name: string; readonly example?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<"application/json", { readonly example: unknown }>> };
}
