// A person with a credential of each kind, and what a credential may make at most.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { createClient } from "@connectrpc/connect";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import type { ApiKey } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Consent, accessTokenOf, callsOf, newPkce, ofPage, openConsent } from "../api/consent.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SharedTokenServers, exchangeKey } from "../support/token-servers.ts";

/** How far a credential goes. */
export interface Reach {
  /** In milliseconds; infinite without an end. */
  readonly end: number;
  readonly scopes: readonly string[];
  readonly addresses: readonly string[];
  /** The API key or session with which its tokens end. */
  readonly sessionId: string;
}

export interface WayCaller {
  readonly api: Api;
  readonly credential: string;
  readonly reach: Reach;
  /** Whom the credential acts as. */
  readonly memberPath: string;
  /** The API key that it is; undefined for a token. */
  readonly key: ApiKey | undefined;
  /** Of a browser that is signed in. */
  readonly cookie: string | undefined;
}

/** Makes a credential of a kind. */
export type Kind = (cast: WayCast) => Promise<WayCaller>;

export interface WayCast {
  readonly consent: Consent;
  readonly url: string;
  /** The operator's. */
  readonly api: Api;
  readonly org: string;
  /** An admin of the org, as is `robot`. */
  readonly alice: { readonly path: string; readonly id: string };
  readonly robot: string;
  /** A path of an identity provider of the org. */
  readonly provider: string;
  /** Makes an API key of a member, as the operator. */
  makeKey(path: string, fields?: object): Promise<ApiKey>;
  /** Makes an API key of a member, as another admin: it is limited. */
  makeLimited(path: string, fields?: object): Promise<ApiKey>;
  close(): Promise<void>;
}

export const inMinutes = (minutes: number) => timestampFromDate(new Date(Date.now() + minutes * 60_000));

/** The addresses of a bound key: where the tests run. */
const here = ["127.0.0.0/8", "::1/128"];

export async function openWayCast(place: SharedTokenServers): Promise<WayCast> {
  const consent = await openConsent(place);
  const { api, org } = consent;
  const { url } = place.servers[0];
  const join = async (type: Member_Type) => {
    const { path, id } = await api.members.createMember({
      parentPath: org.path,
      member: { name: uniqueName("m"), type },
    });
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/admin", subjectPath: path };
    await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
    return { path, id };
  };
  const make = (maker: Api, path: string, fields: object = {}) =>
    maker.apiKeys.createApiKey({ parentPath: path, apiKey: { name: uniqueName("key"), ...fields } });
  const [alice, mallory, robot] = [
    await join(Member_Type.USER),
    await join(Member_Type.USER),
    await join(Member_Type.APPLICATION),
  ];
  const other = createApi("gRPC", url, (await make(api, mallory.path)).secret);
  const identityProvider = { name: "login", issuer: "https://login.example.com", clientId: "tenantry" };
  return {
    consent,
    url,
    api,
    org: org.path,
    alice,
    robot: robot.path,
    provider: (await api.identityProviders.createIdentityProvider({ parentPath: org.path, identityProvider })).path,
    makeKey: (path, fields) => make(api, path, fields),
    makeLimited: (path, fields) => make(other, path, fields),
    close: () => consent.close(),
  };
}

const everything = ["*"];

function ofKey({ url, alice }: WayCast, key: ApiKey): WayCaller {
  const reach = {
    end: key.expireTime === undefined ? Infinity : timestampDate(key.expireTime).getTime(),
    scopes: key.scopes.length === 0 ? everything : key.scopes,
    addresses: key.allowedAddresses,
    sessionId: key.id,
  };
  const credential = key.secret ?? "";
  return { api: createApi("gRPC", url, credential), credential, reach, memberPath: alice.path, key, cookie: undefined };
}

async function ofToken({ url, api, alice }: WayCast, token: string, memberPath = alice.path): Promise<WayCaller> {
  const reach = await reachOf(api, token);
  const caller = { reach, memberPath, key: undefined, cookie: undefined };
  return { ...caller, api: createApi("gRPC", url, token), credential: token };
}

/** Returns how far a token goes. */
export async function reachOf(api: Api, token: string): Promise<Reach> {
  const { active, expireTime, scopes, allowedAddresses, sessionId } = await createClient(
    TokensService,
    api.transport,
  ).introspectToken({
    token,
  });
  if (!active || expireTime === undefined) throw new Error("the token is not active");
  return { end: timestampDate(expireTime).getTime(), scopes, addresses: allowedAddresses, sessionId };
}

const scopes = ["iam.*"];
const ending = () => ({ expireTime: inMinutes(60) });

const exchange = async (cast: WayCast, fields: object = {}, form: Record<string, string> = {}): Promise<WayCaller> => {
  const { secret = "" } = await cast.makeKey(cast.alice.path, fields);
  return ofToken(cast, await exchangeKey(cast, secret, form));
};

/** Signs the person in, and returns the cookie of its browser. */
async function signIn({ url, consent: { database, org }, alice }: WayCast): Promise<string> {
  const code = await createSignInLink(database, { orgId: org.id, memberId: alice.id });
  const init = { method: "POST", body: new URLSearchParams({ code }), headers: ofPage, redirect: "manual" } as const;
  const response = await fetch(`${url}/sign-in/code`, init);
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** The kinds of credentials, in the words of the table. */
export const kinds: Readonly<Record<string, Kind>> = {
  key: async (cast) => ofKey(cast, await cast.makeKey(cast.alice.path)),
  "ending key": async (cast) => ofKey(cast, await cast.makeKey(cast.alice.path, ending())),
  "limited key": async (cast) => ofKey(cast, await cast.makeLimited(cast.alice.path)),
  "narrowed key": async (cast) => ofKey(cast, await cast.makeKey(cast.alice.path, { scopes })),
  "bound key": async (cast) => ofKey(cast, await cast.makeKey(cast.alice.path, { allowedAddresses: here })),
  token: (cast) => exchange(cast),
  "token of an ending key": (cast) => exchange(cast, ending()),
  "narrowed token": (cast) => exchange(cast, {}, { scope: scopes.join(" ") }),
  "token of a session": (cast) => exchange(cast, {}, { scope: "offline_access" }),
  async "token of a client"(cast) {
    const person = { ...cast.consent, member: { ...cast.consent.member, ...cast.alice }, cookie: await signIn(cast) };
    const { newCode, redeem } = callsOf(() => person);
    const pkce = newPkce();
    const code = await newCode(pkce, { scope: "* offline_access" });
    return ofToken(cast, accessTokenOf(await redeem(code, pkce)));
  },
  async impersonation(cast) {
    const { api } = ofKey(cast, await cast.makeKey(cast.alice.path));
    const { accessToken } = await api.members.impersonateMember({ path: cast.robot });
    return ofToken(cast, accessToken, cast.robot);
  },
  async browser(cast) {
    const cookie = await signIn(cast);
    const response = await fetch(`${cast.url}/console/session`, {
      method: "POST",
      body: JSON.stringify({ member: cast.alice.path }),
      headers: { ...ofPage, cookie, "content-type": "application/json" },
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    return { ...(await ofToken(cast, token)), cookie };
  },
};
