// Texts with NUL, which PostgreSQL does not store, are refused wherever they come in, and no error is logged.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { unaryCalls } from "../support/json-calls.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
let org: string;
let basic: string;
beforeAll(async () => {
  server = await sharedServer();
  const api = createApi("gRPC", server.url, server.operatorKey);
  ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("nul") } }));
  basic = Buffer.from(`a%00b:c%00d`).toString("base64");
});

const html = { accept: "text/html" };
const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };

test.each([
  ["GET", "/sign-in?org=%00", {}, undefined],
  ["GET", "/sign-in?return_to=%2Faccount%00", {}, undefined],
  ["GET", "/sign-in?%00=a", {}, undefined],
  ["POST", "/sign-in/start", form, "provider=%00"],
  ["POST", "/sign-in/start", form, "provider=00000000-0000-4000-8000-000000000000&org=a%00"],
  ["POST", "/sign-in/code", form, "code=%00"],
  ["POST", "/sign-in/choice", form, "identity=%00"],
  ["GET", "/oauth2/authorize?client_id=%00&redirect_uri=%00&response_type=code", {}, undefined],
  ["POST", "/oauth2/authorize", form, "client_id=%00"],
  ["POST", "/oauth2/token", form, "grant_type=client_credentials&client_secret=%00"],
  ["POST", "/oauth2/token", form, "grant_type=refresh_token&refresh_token=a%00"],
  ["POST", "/oauth2/token", form, "grant_type=authorization_code&code=a%00&client_id=%00"],
  ["POST", "/oauth2/token", form, "grant_type=client_credentials&scope=a%00b"],
  ["POST", "/oauth2/revoke", form, "token=%00"],
  ["POST", "/oauth2/introspect", form, "token=%00"],
])("%s %s %j %s is no failure of the service", async (method, path, headers, body) => {
  for (const authorization of [{}, { authorization: `Basic ${basic}` }]) {
    const response = await fetch(server.url + path, {
      method,
      headers: { ...html, ...headers, ...authorization },
      ...(body !== undefined && { body }),
      redirect: "manual",
    });
    expect(response.status).toBeGreaterThanOrEqual(300);
    expect(response.status).toBeLessThan(500);
  }
  expect(server.logLines.filter((line) => JSON.stringify(line).includes("invalid byte sequence"))).toEqual([]);
});

/** What no text may have, and what no name and no label may have besides: a control character of C1. */
const nul = "a\0";
const c1 = "a\u0085";
const [iam, resources] = ["iam.v1alpha", "resources.v1alpha"];
/** The texts that fields of a message may not have. */
const refused: readonly [procedure: string, message: (text: string) => JsonObject, field: string, texts: string[]][] = [
  [
    `${iam}.IdentitiesService/CreateIdentity`,
    (subject) => ({
      parent_path: `${org}/members/zoe`,
      identity: { identity_provider_path: "/identityProviders/x", subject },
    }),
    "identity.subject",
    [nul],
  ],
  [
    `${iam}.IdentityProvidersService/CreateIdentityProvider`,
    (client_id) => ({
      parent_path: org,
      identity_provider: { name: "x", issuer: "https://login.example.com", client_id, client_secret: "s" },
    }),
    "identity_provider.client_id",
    [nul],
  ],
  [
    `${resources}.ProviderService/ClaimOperations`,
    (key) => ({ service_path: "/services/none", routing_keys: [key] }),
    "routing_keys[0]",
    [nul],
  ],
  [
    `${iam}.MembersService/CreateMember`,
    (display_name) => ({ parent_path: org, member: { name: "zoe", display_name } }),
    "member.display_name",
    [nul, c1, "a\u007f", "a\u009f"],
  ],
  [
    `${iam}.MembersService/CreateMember`,
    (value) => ({ parent_path: org, member: { name: "zoe", labels: { a: value } } }),
    "member.labels",
    [nul, c1, "a\u007f", "a\u009f"],
  ],
  [`${iam}.MembersService/CreateMember`, (name) => ({ parent_path: org, member: { name } }), "member.name", [nul, c1]],
];
describe.each(["Connect", "gRPC", "gRPC-Web"] as const)("over %s", (protocol) => {
  test.each(refused)("%s refuses in its field what cannot be stored or seen", async (name, message, field, texts) => {
    const headers = { authorization: `Bearer ${server.operatorKey}` };
    const call = required(unaryCalls[protocol]);
    for (const text of texts) {
      const json = JSON.stringify(message(text));
      const failure = await failureOf(call({ url: server.url, procedure: `/${name}`, json, headers }));
      expect(failure).toMatchObject({ reason: "FIELD_INVALID", fields: expect.arrayContaining([field]) });
    }
  });
});

test.each([
  ["ORG/members:batchGet?paths=%00", undefined, "paths[0]"],
  ["ORG/members", { name: "zoe", labels: { a: nul } }, "labels"],
  [
    "ORG/identityProviders",
    { name: "x", issuer: "https://login.example.com", client_id: nul, client_secret: "s" },
    "client_id",
  ],
  [
    "ORG/identityProviders",
    { name: "x", issuer: "https://login.example.com", client_id: "a", client_secret: nul },
    "client_secret",
  ],
  [
    "../../resources/v1alpha/services/none/resourceTypes",
    { name: "x", parameters_schema: { title: nul } },
    "parameters_schema",
  ],
])("%s %j is refused by its field", async (path, body, field) => {
  const response = await fetch(new URL(path.replace("ORG", org.slice(1)), `${server.url}/iam/v1alpha/`), {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = (await response.json()) as { error: { details: { field_violations?: { field: string }[] }[] } };
  const fields = answer.error.details.flatMap((detail) => detail.field_violations ?? []).map((each) => each.field);
  expect({ status: response.status, fields }).toEqual({ status: 400, fields: expect.arrayContaining([field]) });
});
