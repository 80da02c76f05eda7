// OAuth clients in the file of an org, without their secrets.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import type { Company } from "../access/callers.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type Files, filesOf, openFiles } from "./files.ts";

const source = { address: "https://git.example/acme/clients.yaml", version: "1" };
const page = {
  name: "page",
  display_name: "The page",
  labels: { team: "web" },
  redirect_uris: ["https://page.example/a", "https://page.example/b"],
  scopes: ["iam.members.get", "iam.projects.*"],
};
const portal = { name: "portal", redirect_uris: ["https://portal.example/callback"], confidential: true };

let server: SharedServer;
let company: Company;
let files: Files;
let org: string;

beforeAll(async () => {
  server = await sharedServer();
});

beforeEach(async () => {
  ({ company, files, org } = await openFiles(server));
});

const file = (...clients: JsonObject[]): JsonObject => ({ org, clients });

test("clients are created, changed and removed by a file, and an export is that file", async () => {
  expect((await files.plan(file(page, portal))).lines).toEqual(["CREATE clients/page", "CREATE clients/portal"]);
  await files.apply(file(page, portal), { source });
  expect((await files.export())["clients"]).toEqual([page, portal]);
  expect(await files.plan(file(page, portal), { source })).toMatchObject({ lines: [], adoptedCount: 0 });
  // A list of texts has no order of its own, and neither has a file.
  const moved = { ...page, redirect_uris: page.redirect_uris.toReversed(), scopes: page.scopes.toReversed() };
  expect((await files.plan(file(portal, moved))).lines).toEqual([]);
  const narrower = { ...page, redirect_uris: ["https://page.example/a"] };
  const managed = { source, prune: Prune.MANAGED };
  const planned = await files.plan(file(narrower), managed);
  expect(planned.lines).toEqual(["UPDATE clients/page redirect_uris", "DELETE clients/portal"]);
  await files.apply(file(narrower), managed);
  expect((await files.export())["clients"]).toEqual([narrower]);
  const { clients } = await company.api.clients.listClients({ parentPath: company.org.path });
  expect(clients.map(({ name }) => name)).toEqual(["page"]);
});

test("the secret of a client is in no file, and stays when a file changes the client", async () => {
  const { path, secret = "" } = await company.api.clients.createClient({
    parentPath: company.org.path,
    client: { name: "portal", redirectUris: portal.redirect_uris, confidential: true },
  });
  const exported = JSON.stringify(await files.export());
  expect(exported).toContain("portal.example");
  expect(secret.length).toBeGreaterThan(20);
  expect(exported).not.toContain(secret);
  const before = await company.api.clients.getClient({ path });
  await files.apply(file({ ...portal, description: "For partners." }));
  const after = await company.api.clients.getClient({ path });
  expect(after).toMatchObject({ id: before.id, description: "For partners." });
  // Refused for its token, and not for its secret (RFC 6749, section 5.2).
  const tokens = (clientSecret: string) =>
    fetch(`${server.url}/oauth2/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: "none",
        client_id: after.id,
        client_secret: clientSecret,
      }),
    }).then(async (response) => ((await response.json()) as { error: string }).error);
  expect([await tokens(secret), await tokens(`${secret}x`)]).toEqual(["invalid_grant", "invalid_client"]);
  const wrong = await failureOf(files.plan(file({ ...portal, secret: "mine" })));
  expect([wrong.reason, wrong.fields]).toEqual(["FIELD_INVALID", ["org_file.clients[0]"]]);
});

test("a client does not lose its scopes, and so get all, without a word", async () => {
  await files.apply(file(page));
  const [shorter, wider] = [file({ name: "page" }), file({ ...page, scopes: ["*"] })];
  expect((await files.plan(shorter)).obstacles).toEqual([
    'clients/page has no scopes in the file, and could ask for all: name its scopes, or "*" for all',
  ]);
  expect((await files.plan(wider)).obstacles).toEqual([]);
  const twice = { ...page, redirect_uris: [...page.redirect_uris, ...page.redirect_uris] };
  expect((await files.plan(file(twice))).lines).toEqual([]);
});

test("a client that the service would refuse is refused, and nothing is changed", async () => {
  await files.apply(file(page));
  const failure = await failureOf(files.plan(file({ ...page, confidential: true })));
  expect(failure.fields).toEqual(["org_file.clients[0].confidential"]);
  const unsafe = { name: "unsafe", redirect_uris: ["http://page.example/a"] };
  const refused = await failureOf(files.apply({ ...file(page, unsafe), groups: ["sre"] }));
  expect(refused.message).toContain("create clients/unsafe");
  expect((await files.export())["groups"]).toBeUndefined();
});

test("who may apply files and not create clients is refused by the method for that", async () => {
  const { api, org: owned } = company;
  const permissions = ["iam.orgs.apply", "iam.groups.create"];
  const role = await api.roles.createRole({ parentPath: owned.path, role: { name: "applies", permissions } });
  const { key } = await company.joinAs("viewer", "vera");
  const roleBinding = { name: "vera", rolePath: role.path, subjectPath: `${owned.path}/members/vera` };
  await api.roleBindings.createRoleBinding({ parentPath: owned.path, roleBinding });
  const vera = filesOf(owned.path, server.url, key, "gRPC");
  await vera.apply({ org, groups: ["sre"] });
  const refused = await failureOf(vera.apply({ ...file(page), groups: ["web"] }));
  expect([refused.reason, refused.metadata["permission"]]).toEqual(["PERMISSION_DENIED", "iam.clients.create"]);
  expect((await vera.export())["groups"]).toEqual(["sre"]);
});
