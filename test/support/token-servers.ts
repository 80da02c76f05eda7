// Two servers on one database, as one service, and calls with tokens.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../src/config.ts";
import { type Api, createApi, uniqueName } from "./api.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "./shared-server.ts";
import { type TestServer, issuer, startTestServer } from "./test-server.ts";

export interface TokenServers {
  readonly servers: readonly [SharedServer, SharedServer];
  /** The operator's, on the first server. */
  readonly api: Api;
  /** The file with the keys that both servers share. */
  readonly secretKeysFile: string;
  close(): Promise<void>;
}

/** Servers that stay open for the next file. */
export type SharedTokenServers = Omit<TokenServers, "close">;

/** Returns the shared servers of this worker. */
export async function sharedTokenServers(): Promise<SharedTokenServers> {
  const [first, second] = [await sharedServer(), await secondSharedServer()];
  const { url, operatorKey, secretKeysFile } = first;
  return { servers: [first, second], api: createApi("gRPC", url, operatorKey), secretKeysFile };
}

/** Starts two servers with other settings. */
export async function startTokenServers(overrides: Partial<Config> = {}): Promise<TokenServers> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-keys-"));
  const secretKeysFile = join(directory, "keys");
  await writeFile(secretKeysFile, `${randomBytes(32).toString("base64")}\n`);
  const first = await startTestServer({ issuer, secretKeysFile, ...overrides });
  const second = await startTestServer({ issuer, secretKeysFile, ...overrides, databaseUrl: first.databaseUrl });
  return {
    servers: [first, second],
    api: createApi("gRPC", first.url, first.operatorKey),
    secretKeysFile,
    async close() {
      await second.close();
      await first.close();
      await rm(directory, { recursive: true });
    },
  };
}

export interface TokenMember {
  readonly path: string;
  readonly id: string;
  readonly keyPath: string;
  readonly key: string;
}

/** Creates an application with an API key and, on its org, a role. */
export async function createTokenMember(api: Api, org: string, role = "viewer"): Promise<TokenMember> {
  const { path, id } = await api.members.createMember({
    parentPath: org,
    member: { name: uniqueName("app"), type: 2 },
  });
  const roleBinding = { name: uniqueName("binding"), rolePath: `/roles/${role}`, subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  const key = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
  return { path, id, keyPath: key.path, key: key.secret ?? "" };
}

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a form to an OAuth endpoint, such as `token`. */
export async function sendForm(
  { url }: Pick<TestServer, "url">,
  endpoint: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<OAuthAnswer> {
  const response = await fetch(`${url}/oauth2/${endpoint}`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as OAuthAnswer["body"] };
}

/** Exchanges an API key for an access token. */
export async function exchangeKey(
  server: Pick<TestServer, "url">,
  key: string,
  form: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await sendForm(server, "token", {
    grant_type: "client_credentials",
    client_secret: key,
    ...form,
  });
  if (status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`);
  return String(body["access_token"]);
}

/** Returns the status of a GET with a token. */
export async function statusWith({ url }: Pick<TestServer, "url">, token: string, path: string): Promise<number> {
  const response = await fetch(`${url}/iam/v1alpha${path}`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}
