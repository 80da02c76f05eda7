// Identity providers in the file of an org: created with a secret that no export and no plan has, and not removed under those who sign in.
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Prune } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { callsIn, identityProviderNetworks, openProviderPlace, type ProviderPlace } from "../sign-in/provider-place.ts";
import { failureOf } from "../support/failure.ts";
import { client } from "../support/openid-issuers.ts";
import { issuer as service } from "../support/test-server.ts";
import { type TokenServers, startTokenServers } from "../support/token-servers.ts";
import { type Files, all, filesOf } from "./files.ts";

let servers: TokenServers;
let place: ProviderPlace;

beforeAll(async () => {
  servers = await startTokenServers({ identityProviderNetworks });
  place = await openProviderPlace(servers.servers, servers.api);
});
afterAll(async () => {
  await place.openId.close();
  await servers.close();
});

const { newOrg, newUser, signIn } = callsIn(() => place);

const okta = { name: "okta", issuer: "https://acme.okta.example", client_id: "tenantry", scopes: ["email", "profile"] };

async function openOrg(): Promise<{ readonly org: string; readonly files: Files }> {
  const org = await newOrg();
  return { org, files: filesOf(org, servers.servers[0].url, servers.servers[0].operatorKey, "gRPC") };
}

/** The org as it is, with these providers. */
async function fileWith(files: Files, ...providers: JsonObject[]): Promise<JsonObject> {
  const { identity_providers: _providers, ...others } = await files.export();
  return providers.length === 0 ? others : { ...others, identity_providers: providers };
}

test("somebody signs in with a provider that a file has created, by the secret that no export shows", async () => {
  const { org, files } = await openOrg();
  const login = { name: "login", issuer: place.openId.issuer, client_id: client.id };
  const { revision } = await files.client.exportOrg({ path: org });
  await files.apply(await fileWith(files, { ...login, client_secret: client.secret }));
  expect((await files.export())["identity_providers"]).toEqual([login]);
  const { id, path } = await place.api.identityProviders.getIdentityProvider({
    path: `${org}/identityProviders/login`,
  });
  const redirectUri = `${service}/sign-in/callback/${id}`;
  place.openId.serve(redirectUri);
  await newUser(org, path, "olga");
  expect((await signIn("olga", { id, path, redirectUri })).status).toBe(303);

  // Another secret is no change, and an apply of others keeps the one that is there.
  const other = { ...login, client_secret: "another one" };
  expect((await files.plan(await fileWith(files, other))).lines).toEqual([]);
  await files.apply(await fileWith(files, { ...other, description: "For all." }));
  expect((await signIn("olga", { id, path, redirectUri })).status).toBe(303);

  const removed = await files.plan(await fileWith(files), all);
  expect(removed.lines).toEqual(["DELETE identityProviders/login"]);
  expect(removed.obstacles).toEqual([
    "identityProviders/login would be removed, and members sign in with it: delete it by itself",
  ]);
  expect(await failureOf(files.apply(await fileWith(files), all))).toMatchObject({ reason: "STATE_FORBIDS" });
  const back = await files.client.rollbackOrg({ path: org, revision, validateOnly: true });
  expect(back.obstacles).toEqual(removed.obstacles);
  expect((await signIn("olga", { id, path, redirectUri })).status).toBe(303);
});

test("a plan is the same with any secret, and can be made without", async () => {
  const { org, files } = await openOrg();
  const planned = await files.plan(await fileWith(files, okta));
  expect(planned.lines).toEqual(["CREATE identityProviders/okta"]);
  const withSecret = await fileWith(files, { ...okta, client_secret: "s3cret" });
  expect((await files.plan(withSecret)).plan).toBe(planned.plan);
  await files.client.applyOrg({ path: org, orgFile: withSecret, plan: planned.plan });
  const changes = await place.api.changes.listChanges({
    parentPath: org,
    filter: 'resource_type = "IdentityProvider"',
  });
  expect(changes.changes).toHaveLength(1);
  expect(JSON.stringify([await files.export(), changes.changes.map(({ after }) => after)])).not.toContain("s3cret");
  const drawn = await files.plan(withSecret, { source: { address: "git.example/acme", version: "1" } });
  expect(drawn.drifts.map(({ resourcePath }) => resourcePath).filter((path) => path.includes("okta"))).toEqual([]);
});

test("a source removes the provider that it manages, and nobody uses, and is told what cannot change", async () => {
  const { files } = await openOrg();
  const source = { address: "https://git.example/acme.yaml", version: "1" };
  await files.apply(await fileWith(files, { ...okta, client_secret: "s3cret" }), { source });
  const again = await files.plan(await fileWith(files, { ...okta, client_secret: "s3cret" }), { source });
  expect([again.lines, again.adoptedCount, again.drifts]).toEqual([[], 0, []]);
  const moved = await failureOf(files.plan(await fileWith(files, { ...okta, issuer: "https://other.example" })));
  expect([moved.reason, moved.fields]).toEqual(["FIELD_INVALID", ["org_file.identity_providers[0].issuer"]]);
  const managed = { source, prune: Prune.MANAGED };
  await files.apply(await fileWith(files, { ...okta, scopes: [] }), managed);
  expect((await files.export())["identity_providers"]).toEqual([
    { name: okta.name, issuer: okta.issuer, client_id: okta.client_id },
  ]);
  const without = await fileWith(files);
  expect((await files.plan(without, managed)).lines).toEqual(["DELETE identityProviders/okta"]);
  await files.apply(without, managed);
  expect((await files.export())["identity_providers"]).toBeUndefined();
});
