// Identity providers and the identities of members: who may link whom, and what may be linked.
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTokenMember } from "../support/token-servers.ts";

let server: SharedServer;
let database: Database;
let api: Api;
let org: string;
let other: string;

beforeAll(async () => {
  server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  const connection = { connectionString: server.databaseUrl };
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} });
  [org, other] = [await newOrg(), await newOrg()];
});
afterAll(async () => {
  await database.close();
});

const newOrg = async (): Promise<string> => (await api.orgs.createOrg({ org: { name: uniqueName("org") } })).path;

async function newProvider(parentPath: string, fields: object = {}) {
  const identityProvider = { name: uniqueName("idp"), issuer: "https://login.example.com", clientId: "tenantry" };
  return api.identityProviders.createIdentityProvider({
    parentPath,
    identityProvider: { ...identityProvider, ...fields },
  });
}

const newUser = async (parentPath: string): Promise<string> =>
  (await api.members.createMember({ parentPath, member: { name: uniqueName("user") } })).path;

const link = (caller: Api, parentPath: string, identityProviderPath: string, subject: string = uniqueName("sub")) =>
  caller.identities.createIdentity({
    parentPath,
    identity: { name: uniqueName("i"), identityProviderPath, subject },
  });

const as = async (role: string): Promise<{ api: Api; path: string }> => {
  const { key, path } = await createTokenMember(api, org, role);
  return { api: createApi("gRPC", server.url, key), path };
};

describe("a provider", () => {
  test.each([
    "http://login.example.com",
    "ftp://login.example.com",
    "login.example.com",
    "https://login.example.com/?tenant=1",
    "https://login.example.com/#",
    "https://user:pass@login.example.com",
    "https://login.example.com.",
    "https://LOGIN.example.com",
    "https://login.example.com:443",
    "https://localhost",
    "https://a.localhost",
    "http://127.0.0.1",
    "https://127.0.0.1",
    "https://2130706433",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:10.0.0.1]",
    "https://[fe80::1]",
    "https://[fd00::1]",
    "https://[64:ff9b::7f00:1]",
    "https://10.0.0.1",
    "https://169.254.169.254",
    "https://0.0.0.0",
  ])("cannot have the issuer %s", async (issuer) => {
    const { code, fields } = await failureOf(newProvider(org, { issuer }));
    expect([code, ...fields]).toEqual(["InvalidArgument", "identity_provider.issuer"]);
  });

  test("keeps its secret encrypted, with its id, and an update without a secret keeps it", async () => {
    const secret = "s3cret-of-the-client";
    const created = await newProvider(org, { clientSecret: secret });
    const sealedOf = async (): Promise<Buffer | null> => {
      const row = database.reads.selectFrom("identity_providers").select("sealed_secret").where("id", "=", created.id);
      return (await row.executeTakeFirstOrThrow()).sealed_secret;
    };
    const before = await sealedOf();
    const { path } = created;
    await api.identityProviders.updateIdentityProvider({ path, identityProvider: { displayName: "Changed" } });
    const read = await api.identityProviders.getIdentityProvider({ path });
    expect([created.clientSecret, read.clientSecret, read.displayName]).toEqual(["", "", "Changed"]);
    expect(await sealedOf()).toEqual(before);
    const { rows } = await sql<{ xml: string }>`select database_to_xml(true, false, '')::text as xml`.execute(
      database.reads,
    );
    expect(rows[0]?.xml).not.toContain(secret);
    await api.identityProviders.updateIdentityProvider({ path, identityProvider: { clientSecret: "another" } });
    expect(await sealedOf()).not.toEqual(before);
  });

  test("keeps its issuer and its client, which say whom identities mean", async () => {
    const { path } = await newProvider(org);
    for (const fields of [{ issuer: "https://other.example.com" }, { clientId: "other" }]) {
      const update = api.identityProviders.updateIdentityProvider({ path, identityProvider: fields });
      expect((await failureOf(update)).code).toBe("InvalidArgument");
    }
  });

  test("of the installation is kept while members of other orgs have identities of it", async () => {
    const { path } = await newProvider("orgs/system");
    const identity = await link(api, await newUser(org), path);
    const remove = () => api.identityProviders.deleteIdentityProvider({ path });
    expect((await failureOf(remove())).reason).toBe("RESOURCE_IN_USE");
    await api.identities.deleteIdentity({ path: identity.path });
    await remove();
  });

  test("is deleted with the identities of its org", async () => {
    const { path } = await newProvider(org);
    const identity = await link(api, await newUser(org), path);
    await api.identityProviders.deleteIdentityProvider({ path });
    expect((await failureOf(api.identities.getIdentity({ path: identity.path }))).code).toBe("NotFound");
  });
});

describe("an identity", () => {
  test("is of a provider of its org or of the installation", async () => {
    const [user, own, shared] = [await newUser(org), await newProvider(org), await newProvider("orgs/system")];
    expect(await link(api, user, own.path, "1")).toMatchObject({ identityProviderPath: own.path, issuer: own.issuer });
    expect(await link(api, user, shared.path, "1")).toMatchObject({ identityProviderPath: shared.path, subject: "1" });
    expect((await link(api, user, `${org}/identityProviders/@${(await newProvider(org)).id}`)).issuer).toBe(own.issuer);
  });

  test("cannot be of the provider of another org, and the answer does not tell whether there is one", async () => {
    const [user, foreign] = [await newUser(org), await newProvider(other)];
    const missing = `${other}/identityProviders/missing`;
    for (const path of [foreign.path, missing, `${org}/identityProviders/@${foreign.id}`]) {
      const { reason, fields } = await failureOf(link(api, user, path));
      const field = ["FIELD_INVALID", "identity.identity_provider_path"];
      expect([reason, ...fields]).toEqual(path.startsWith(`${org}/`) ? ["RESOURCE_NOT_FOUND"] : field);
    }
  });

  test("is one of its org for a subject; the same subject can be in another org, and of another provider", async () => {
    const [shared, second] = [await newProvider("orgs/system"), await newProvider(org)];
    await link(api, await newUser(org), shared.path, "7");
    expect((await failureOf(link(api, await newUser(org), shared.path, "7"))).reason).toBe("RESOURCE_EXISTS");
    await link(api, await newUser(other), shared.path, "7");
    await link(api, await newUser(org), second.path, "7");
  });

  test("is created by an owner or by its member, and by nobody else", async () => {
    const [user, provider] = [await newUser(org), await newProvider(org)];
    const [owner, admin, manager] = [await as("owner"), await as("admin"), await as("members-admin")];
    await link(owner.api, user, provider.path);
    for (const { api: caller, path } of [admin, manager]) {
      expect((await failureOf(link(caller, user, provider.path))).reason).toBe("GRANT_EXCEEDS_OWN");
      await link(caller, path, provider.path);
    }
  });

  test("is not created with a limited key or a narrowed one, also by its own member", async () => {
    const [user, provider, admin] = [await newUser(org), await newProvider(org), await as("admin")];
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/members-admin", subjectPath: user };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const limited = await admin.api.apiKeys.createApiKey({ parentPath: user, apiKey: { name: "limited" } });
    const scopes = ["iam.identities.*"];
    const narrowed = await api.apiKeys.createApiKey({ parentPath: user, apiKey: { name: "narrowed", scopes } });
    for (const { secret } of [limited, narrowed]) {
      const caller = createApi("gRPC", server.url, secret);
      expect((await failureOf(link(caller, user, provider.path))).reason).toBe("GRANT_EXCEEDS_OWN");
    }
  });
});
