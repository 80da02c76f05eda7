// A real identity provider, orgs whose users sign in with it, and the calls of their browsers.
import { expect } from "vitest";
import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { type OpenIdProvider, client, passThrough, startOpenIdProvider } from "../support/openid-issuers.ts";
import type { SharedServer } from "../support/shared-server.ts";
import { issuer as service } from "../support/test-server.ts";

export interface LinkedProvider {
  readonly id: string;
  readonly path: string;
  readonly redirectUri: string;
}

export interface ProviderPlace {
  /** One or two, on one database. */
  readonly servers: readonly SharedServer[];
  readonly api: Api;
  /** The path of an org. */
  readonly org: string;
  readonly openId: OpenIdProvider;
  /** The provider of the installation, which is `openId`. */
  readonly shared: LinkedProvider;
}

/** The setting of servers that can ask the issuers of tests. */
export const identityProviderNetworks = ["127.0.0.1/32"];

export async function openProviderPlace(servers: readonly SharedServer[], api: Api): Promise<ProviderPlace> {
  const openId = await startOpenIdProvider();
  const shared = await createProvider(api, "/orgs/system", openId.issuer, { displayName: "Shared <login>" });
  openId.serve(shared.redirectUri);
  return { servers, api, org: await createOrg(api), openId, shared };
}

const createOrg = async (api: Api): Promise<string> =>
  (await api.orgs.createOrg({ org: { name: uniqueName("org") } })).path;

async function createProvider(
  api: Api,
  parentPath: string,
  issuer: string,
  fields: object = {},
): Promise<LinkedProvider> {
  const identityProvider = { name: uniqueName("idp"), issuer, clientId: client.id, clientSecret: client.secret };
  const { id, path } = await api.identityProviders.createIdentityProvider({
    parentPath,
    identityProvider: { ...identityProvider, ...fields },
  });
  return { id, path, redirectUri: `${service}/sign-in/callback/${id}` };
}

/** What a page of the service itself sends. */
export const ofPage = { "sec-fetch-site": "same-origin" };

/** Returns the calls of a place that is opened before the first of them. */
export function callsIn(place: () => ProviderPlace) {
  const urlOf = (server: 0 | 1): string => required(place().servers[server]).url;

  /** Creates a user with an identity. */
  async function newUser(parentPath: string, identityProviderPath: string, subject: string) {
    const { path } = await place().api.members.createMember({ parentPath, member: { name: uniqueName("user") } });
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: path };
    await place().api.roleBindings.createRoleBinding({ parentPath, roleBinding });
    const identity = { name: "login", identityProviderPath, subject };
    const created = await place().api.identities.createIdentity({ parentPath: path, identity });
    return { path, identity: created.path, identityId: created.id };
  }

  async function start(provider: string, fields: Record<string, string> = {}, server: 0 | 1 = 0) {
    const body = new URLSearchParams({ provider, ...fields });
    const request = { method: "POST", body, headers: ofPage, redirect: "manual" } as const;
    const response = await fetch(`${urlOf(server)}/sign-in/start`, request);
    const text = await response.text();
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return { status: response.status, url: response.headers.get("location") ?? "", cookie, text };
  }

  /** Sends a browser to where a provider sent it back, on one of the servers. */
  async function comeBack(callback: URL | string, cookie: string, server: 0 | 1 = 0) {
    const { pathname, search } = new URL(callback);
    const response = await fetch(`${urlOf(server)}${pathname}${search}`, { headers: { cookie }, redirect: "manual" });
    const cookies = response.headers.getSetCookie();
    const session = cookies.find((each) => /^__Host-tenantry=./.test(each))?.split(";")[0];
    const text = await response.text();
    return { status: response.status, location: response.headers.get("location"), cookies, session, text };
  }

  /** A whole sign-in at the real provider. */
  async function signIn(person: string, provider = place().shared, before = "") {
    place().openId.person = person;
    const { url, cookie } = await start(provider.id);
    return comeBack(await passThrough(url, provider.redirectUri), [cookie, before].filter(Boolean).join("; "));
  }

  /** Sends a decision of the page on which a browser chooses a member. */
  async function decide(
    session: string,
    identity: string,
    decision = "accept",
    headers: Record<string, string> = ofPage,
    server: 0 | 1 = 0,
  ) {
    const body = new URLSearchParams({ identity, decision, return_to: "/docs" });
    const init = { method: "POST", body, headers: { ...headers, cookie: session }, redirect: "manual" } as const;
    const response = await fetch(`${urlOf(server)}/sign-in/choice`, init);
    return { status: response.status, location: response.headers.get("location"), text: await response.text() };
  }

  /** Returns what the page says on which a browser chooses a member. */
  async function showChoices(session: string): Promise<string> {
    const response = await fetch(`${urlOf(0)}/sign-in/choice`, { headers: { cookie: session }, redirect: "manual" });
    return response.text();
  }

  /** A whole sign-in of a person that has one member, which it accepts where that waits. */
  async function enter(person: string, { identityId }: { readonly identityId: string }, before = "") {
    const back = await signIn(person, place().shared, before);
    if (back.location !== "/console/") expect((await decide(back.session ?? "", identityId)).status).toBe(303);
    return back;
  }

  function askToken(session: string, member: string, server: 0 | 1 = 0) {
    const headers = { ...ofPage, "content-type": "application/json", cookie: session };
    return fetch(`${urlOf(server)}/console/session`, { method: "POST", body: JSON.stringify({ member }), headers });
  }

  async function tokenOf(session: string, member: string): Promise<string> {
    const response = await askToken(session, member);
    expect(response.status).toBe(200);
    return ((await response.json()) as { access_token: string }).access_token;
  }

  return {
    newOrg: () => createOrg(place().api),
    newProvider: (parentPath: string, issuer: string, fields: object = {}) =>
      createProvider(place().api, parentPath, issuer, fields),
    newUser,
    urlOf,
    start,
    comeBack,
    signIn,
    decide,
    showChoices,
    enter,
    askToken,
    tokenOf,
  };
}
