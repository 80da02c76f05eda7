// Each method that ends tokens, with how it does, and each that does not, with the reason. A new method needs a line.
import { createClient } from "@connectrpc/connect";
import { TokensService } from "../../../gen/iam/v1alpha/token_pb.ts";
import type { TokenEndReason } from "../../../src/access/tokens/find-token-end.ts";
import { type Consent, accessTokenOf, callsOf, newPkce, ofPage } from "../../api/consent.ts";
import { uniqueName } from "../../support/api.ts";
import {
  type OAuthAnswer,
  type TokenMember,
  createTokenMember,
  exchangeKey,
  sendForm,
} from "../../support/token-servers.ts";
import { createTransport } from "../../support/transports.ts";

/** A member, in an org of its own if its org is to end. */
export interface Cast {
  readonly consent: Consent;
  readonly org: { readonly path: string; readonly id: string; readonly customerPath: string };
  readonly member: TokenMember;
  /** Tokens of its API key, of a session of that, and of a client that it has allowed. */
  readonly ofKey: string;
  readonly ofSession: OAuthAnswer;
  readonly ofClient: OAuthAnswer;
  /** What the client had for that. */
  readonly code: string;
  /** A token of another owner of the org. */
  readonly ofOther: string;
  readonly client: { readonly path: string; readonly id: string };
  /** With which the session of the client began. */
  readonly identity: { readonly path: string; readonly id: string; readonly provider: string };
  readonly cookie: string;
  readonly calls: ReturnType<typeof callsOf>;
}

type Token = "key" | "session" | "client";

export interface Way {
  readonly reason: TokenEndReason;
  /** The tokens that end. */
  readonly ends: readonly Token[];
  readonly run: (cast: Cast) => Promise<unknown>;
}

const everything = ["key", "session", "client"] as const;

export async function newCast(consent: Consent): Promise<Cast> {
  const { api, servers, database } = consent;
  const org = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const parentPath = org.path;
  const member = await createTokenMember(api, parentPath, "owner");
  const client = await api.clients.createClient({
    parentPath,
    client: { name: "app", redirectUris: ["https://app.example.com/callback"] },
  });
  const own = { ...consent, org, member, client };
  const cookie = await callsOf(() => own).signIn(org, member);
  const calls = callsOf(() => ({ ...own, cookie }));
  const { path: provider } = await api.identityProviders.createIdentityProvider({
    parentPath,
    identityProvider: { name: "login", issuer: "https://login.example.com", clientId: "tenantry" },
  });
  const { path, id } = await api.identities.createIdentity({
    parentPath: member.path,
    identity: { name: "login", identityProviderPath: provider, subject: uniqueName("subject") },
  });
  const pkce = newPkce();
  const code = await calls.newCode(pkce);
  const ofClient = await calls.redeem(code, pkce);
  // As if the person had signed in with the identity, here without its provider.
  const ofMember = database.writes.updateTable("sessions").set({ identity_id: id }).where("member_id", "=", member.id);
  await ofMember.where("oauth_client_id", "=", client.id).execute();
  const ofSession = await sendForm(servers[0], "token", {
    grant_type: "client_credentials",
    client_secret: member.key,
    scope: "offline_access",
  });
  const ofKey = await exchangeKey(servers[0], member.key);
  const ofOther = await exchangeKey(servers[0], (await createTokenMember(api, parentPath, "owner")).key);
  return {
    consent,
    org,
    member,
    ofKey,
    ofSession,
    ofClient,
    code,
    ofOther,
    client,
    identity: { path, id, provider },
    cookie,
    calls,
  };
}

const refreshTokenOf = ({ body }: OAuthAnswer): string => String(body["refresh_token"]);

const sessionOf = ({ member, ofSession }: Cast): string => {
  const [, claims = ""] = accessTokenOf(ofSession).split(".");
  const { sid } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { readonly sid: string };
  return `${member.path}/sessions/@${sid}`;
};

const revoke = ({ consent, member }: Cast, token: string) => {
  const transport = createTransport("gRPC", consent.servers[0].url, member.key);
  return createClient(TokensService, transport).revokeToken({ token });
};

/** What each method ends, by the names of the methods. */
export const ways: Readonly<Record<string, Way>> = {
  DeleteApiKey: {
    reason: "API_KEY_DELETED",
    ends: ["key", "session"],
    run: ({ consent: { api }, member }) => api.apiKeys.deleteApiKey({ path: member.keyPath }),
  },
  BatchDeleteApiKeys: {
    reason: "API_KEY_DELETED",
    ends: ["key", "session"],
    run: ({ consent: { api }, member: { path: parentPath, keyPath } }) =>
      api.apiKeys.batchDeleteApiKeys({ parentPath, paths: [keyPath] }),
  },
  RotateApiKey: {
    reason: "API_KEY_ROTATED",
    ends: ["key", "session"],
    run: ({ consent: { api }, member: { keyPath: path } }) =>
      api.apiKeys.rotateApiKey({ path, name: "next", overlap: { seconds: 1n } }),
  },
  DeleteSession: {
    reason: "SESSION_ENDED",
    ends: ["session"],
    run: (cast) => cast.consent.api.sessions.deleteSession({ path: sessionOf(cast) }),
  },
  DeleteClient: {
    reason: "CLIENT_DELETED",
    ends: ["client"],
    run: ({ consent: { api }, client: { path } }) => api.clients.deleteClient({ path }),
  },
  BatchDeleteClients: {
    reason: "CLIENT_DELETED",
    ends: ["client"],
    run: ({ consent: { api }, org: { path: parentPath }, client }) =>
      api.clients.batchDeleteClients({ parentPath, paths: [client.path] }),
  },
  DeleteMember: {
    reason: "MEMBER_DELETED",
    ends: everything,
    run: ({ consent: { api }, member: { path } }) => api.members.deleteMember({ path }),
  },
  BatchDeleteMembers: {
    reason: "MEMBER_DELETED",
    ends: everything,
    run: ({ consent: { api }, org: { path: parentPath }, member }) =>
      api.members.batchDeleteMembers({ parentPath, paths: [member.path] }),
  },
  SuspendMember: {
    reason: "MEMBER_SUSPENDED",
    ends: everything,
    run: ({ consent: { api }, member: { path } }) => api.members.suspendMember({ path }),
  },
  RevokeTokens: {
    reason: "ALL_REVOKED",
    ends: everything,
    run: ({ consent: { api }, member: { path } }) => api.members.revokeTokens({ path }),
  },
  DeleteIdentity: {
    reason: "SESSION_ENDED",
    ends: ["client"],
    run: ({ consent: { api }, identity: { path } }) => api.identities.deleteIdentity({ path }),
  },
  BatchDeleteIdentities: {
    reason: "SESSION_ENDED",
    ends: ["client"],
    run: ({ consent: { api }, member: { path: parentPath }, identity }) =>
      api.identities.batchDeleteIdentities({ parentPath, paths: [identity.path] }),
  },
  DeleteIdentityProvider: {
    reason: "SESSION_ENDED",
    ends: ["client"],
    run: ({ consent: { api }, identity: { provider: path } }) => api.identityProviders.deleteIdentityProvider({ path }),
  },
  BatchDeleteIdentityProviders: {
    reason: "SESSION_ENDED",
    ends: ["client"],
    run: ({ consent: { api }, org: { path: parentPath }, identity: { provider } }) =>
      api.identityProviders.batchDeleteIdentityProviders({ parentPath, paths: [provider] }),
  },
  DeleteOrg: {
    reason: "ORG_DELETED",
    ends: everything,
    run: async ({ consent: { api }, org: { path, customerPath } }) => {
      await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } });
      await api.orgs.deleteOrg({ path });
    },
  },
  BatchDeleteOrgs: {
    reason: "ORG_DELETED",
    ends: everything,
    run: async ({ consent: { api }, org: { path, customerPath } }) => {
      await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } });
      await api.orgs.batchDeleteOrgs({ paths: [path] });
    },
  },
  DeleteCustomer: {
    reason: "ORG_DELETED",
    ends: everything,
    run: ({ consent: { api }, org: { customerPath: path } }) => api.customers.deleteCustomer({ path, force: true }),
  },
  BatchDeleteCustomers: {
    reason: "ORG_DELETED",
    ends: everything,
    run: ({ consent: { api }, org: { customerPath: path } }) => api.customers.batchDeleteCustomers({ paths: [path] }),
  },
  RevokeToken: { reason: "TOKEN_REVOKED", ends: ["key"], run: (cast) => revoke(cast, cast.ofKey) },
  "RevokeToken, of a refresh token": {
    reason: "SESSION_ENDED",
    ends: ["session"],
    run: (cast) => revoke(cast, refreshTokenOf(cast.ofSession)),
  },
  "oauth2/revoke": {
    reason: "TOKEN_REVOKED",
    ends: ["client"],
    run: ({ consent: { servers }, ofClient }) => sendForm(servers[0], "revoke", { token: accessTokenOf(ofClient) }),
  },
  "oauth2/revoke, of a refresh token": {
    reason: "SESSION_ENDED",
    ends: ["client"],
    run: ({ consent: { servers }, ofClient }) => sendForm(servers[0], "revoke", { token: refreshTokenOf(ofClient) }),
  },
  "oauth2/token, with a code that was used": {
    reason: "SESSION_ENDED",
    ends: ["client"],
    // By somebody else: the client itself may repeat its request for some seconds.
    run: ({ calls, code }) => calls.redeem(code, newPkce()),
  },
  "account/end": {
    reason: "ALL_REVOKED",
    ends: everything,
    run: ({ calls, cookie }) =>
      calls.send("/account/end", { method: "POST", body: new URLSearchParams(), headers: { ...ofPage, cookie } }),
  },
};

const gives = "gives access";
const decidedAtEachCall = "what tokens may do is decided at each call";

/** The other methods of the services that tokens are of, and why they end none. */
export const withoutEnd: Readonly<Record<string, string>> = {
  UpdateCustomer: decidedAtEachCall,
  UndeleteCustomer: gives,
  PurgeCustomer: "all has ended when it was deleted",
  CreateOrg: gives,
  BatchCreateOrgs: gives,
  UpdateOrg: decidedAtEachCall,
  UndeleteOrg: gives,
  SuspendOrg: decidedAtEachCall,
  ActivateOrg: gives,
  PurgeOrg: "all has ended when it was deleted",
  CreateMember: gives,
  InviteMember: gives,
  SendInvitation: gives,
  BatchCreateMembers: gives,
  UpdateMember: decidedAtEachCall,
  UndeleteMember: gives,
  ActivateMember: gives,
  PurgeMember: "all has ended when it was deleted",
  ImpersonateMember: gives,
  EraseMember: "all has ended when it was deleted",
  CreateApiKey: gives,
  BatchCreateApiKeys: gives,
  UpdateApiKey: decidedAtEachCall,
  ConfirmApiKey: gives,
  CreateClient: gives,
  BatchCreateClients: gives,
  UpdateClient: decidedAtEachCall,
  RotateClient: "the tokens of its members stay",
  CreateIdentityProvider: gives,
  BatchCreateIdentityProviders: gives,
  UpdateIdentityProvider: decidedAtEachCall,
  CreateIdentity: gives,
  BatchCreateIdentities: gives,
  UpdateIdentity: decidedAtEachCall,
  IssueToken: gives,
  RefreshToken: gives,
};

/** The services from which tokens come. The methods of others end none: what tokens may do is decided at each call. */
export const servicesOfTokens: readonly string[] = [
  "CustomersService",
  "OrgsService",
  "MembersService",
  "ApiKeysService",
  "SessionsService",
  "ClientsService",
  "IdentityProvidersService",
  "IdentitiesService",
  "TokensService",
];

/** Why no entry of the log says it, and no method ends tokens so. */
export const untold: Readonly<Partial<Record<TokenEndReason, string>>> = {
  EXPIRED: "a token says when",
  IMPERSONATION_ENDED:
    "what ends the impersonator's own tokens says it, and the loss of its role is decided at each call",
};
