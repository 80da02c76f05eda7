// An org with a person in a browser and clients that ask for codes, and the calls of all of them, on two servers with one database.
import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Client } from "../../gen/iam/v1alpha/client_pb.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, uniqueName } from "../support/api.ts";
import {
  type OAuthAnswer,
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  sendForm,
  statusWith,
} from "../support/token-servers.ts";

export const redirectUri = "https://app.example.com/callback";

/** Who can allow what to whom. */
export interface Consent {
  readonly servers: SharedTokenServers["servers"];
  readonly api: Api;
  readonly database: Database;
  readonly org: { readonly path: string; readonly id: string };
  readonly member: TokenMember;
  /** Of the browser in which the member is signed in. */
  readonly cookie: string;
  readonly client: Client;
  readonly confidential: Client;
  close(): Promise<void>;
}

export async function openConsent({ servers, api }: SharedTokenServers): Promise<Consent> {
  const connection = { connectionString: servers[0].databaseUrl };
  const onConnectionError = (): void => {};
  const database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 2, onConnectionError });
  const org = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const member = await createTokenMember(api, org.path, "owner");
  return {
    servers,
    api,
    database,
    org,
    member,
    cookie: await signInWith({ servers, database }, org, member),
    client: await registerWith(api, org.path),
    confidential: await registerWith(api, org.path, { confidential: true }),
    close: () => database.close(),
  };
}

function registerWith(api: Api, parentPath: string, fields: object = {}): Promise<Client> {
  const client = { name: uniqueName("app"), displayName: "The <app>", redirectUris: [redirectUri], ...fields };
  return api.clients.createClient({ parentPath, client });
}

function sendTo({ servers }: Pick<Consent, "servers">, path: string, init: RequestInit, server = 0): Promise<Response> {
  return fetch(`${servers[server]?.url}${path}`, { redirect: "manual", ...init });
}

async function signInWith(
  consent: Pick<Consent, "servers" | "database">,
  { id: orgId }: { readonly id: string },
  { id: memberId }: TokenMember,
  before = "",
): Promise<string> {
  const body = new URLSearchParams({ code: await createSignInLink(consent.database, { orgId, memberId }) });
  const init = { method: "POST", body, headers: { ...ofPage, cookie: before } };
  const response = await sendTo(consent, "/sign-in/code", init);
  expect(response.status).toBe(303);
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** What a page of the service itself sends. */
export const ofPage = { "sec-fetch-site": "same-origin" };

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export type Changes = Readonly<Record<string, string | undefined>>;

export const locationOf = (response: Response): URL => new URL(response.headers.get("location") ?? "", "http://none");

export const accessTokenOf = ({ body }: OAuthAnswer): string => String(body["access_token"]);

/** Returns the calls of a browser and of clients, of a consent that is opened before the first of them. */
export function callsOf(consent: () => Consent) {
  const send = (path: string, init: RequestInit = {}, server = 0): Promise<Response> =>
    sendTo(consent(), path, init, server);

  /** Returns the query of a request for a code. Undefined leaves a parameter out. */
  function queryOf(pkce: Pkce, changes: Changes = {}): string {
    const all: Changes = {
      response_type: "code",
      client_id: consent().client.id,
      redirect_uri: redirectUri,
      code_challenge: pkce.challenge,
      code_challenge_method: "S256",
      state: "a state & more",
      scope: "iam.orgs.get offline_access",
      ...changes,
    };
    const given = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    );
    return new URLSearchParams(given).toString();
  }

  const ask = (query: string, headers: Record<string, string> = { cookie: consent().cookie }) =>
    send(`/oauth2/authorize?${query}`, { headers });

  function decide(query: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const body = new URLSearchParams({ request: query, member: consent().member.path, decision: "allow", ...form });
    const all = { ...ofPage, cookie: consent().cookie, ...headers };
    return send("/oauth2/authorize/decision", { method: "POST", body, headers: all }, 1);
  }

  async function newCode(pkce: Pkce, changes: Changes = {}, form: Record<string, string> = {}): Promise<string> {
    const response = await decide(queryOf(pkce, changes), form);
    expect(response.status).toBe(303);
    return locationOf(response).searchParams.get("code") ?? "";
  }

  const token = (server: number, form: Record<string, string>): Promise<OAuthAnswer> => {
    const { servers } = consent();
    return sendForm(servers[server] ?? servers[0], "token", form);
  };

  const redeem = (code: string, { verifier }: Pkce, changes: Record<string, string> = {}, server = 0) =>
    token(server, {
      grant_type: "authorization_code",
      client_id: consent().client.id,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      code,
      ...changes,
    });

  const refresh = ({ body }: OAuthAnswer, changes: Record<string, string> = {}, server = 0) =>
    token(server, {
      grant_type: "refresh_token",
      refresh_token: String(body["refresh_token"]),
      ...changes,
    });

  async function statusesOf(answer: OAuthAnswer): Promise<number[]> {
    const accessToken = accessTokenOf(answer);
    return Promise.all(consent().servers.map((server) => statusWith(server, accessToken, consent().org.path)));
  }

  return {
    register: (parentPath: string, fields: object = {}) => registerWith(consent().api, parentPath, fields),
    send,
    /** Signs a browser in, which has the cookie `before`, and returns its new cookie. */
    signIn: (org: { readonly id: string }, member: TokenMember, before = "") =>
      signInWith(consent(), org, member, before),
    queryOf,
    ask,
    decide,
    newCode,
    redeem,
    refresh,
    statusesOf,
  };
}
