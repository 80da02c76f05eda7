// Attempts to make, confirm or widen a way to act as a member, with a credential that may go less far.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { IdentityProvider_OnFirstSignIn } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { callsOf, newPkce, ofPage, redirectUri } from "../api/consent.ts";
import { uniqueName } from "../support/api.ts";
import { sendForm } from "../support/token-servers.ts";
import { type Reach, type WayCaller, type WayCast, inMinutes, reachOf } from "./way-cast.ts";

/** An attempt that was refused by an endpoint that is not of the API. */
export class Refused extends Error {}

/** Makes an attempt, and returns whether what it made goes no further than the credential. */
type Call = (caller: WayCaller, cast: WayCast) => Promise<"within" | "further">;

export interface Attempt {
  /** Attempts to get as much as there is, each on its own. */
  readonly furthest: readonly Call[];
  /** Attempts to get no more than the credential is good for. */
  readonly within: readonly Call[];
}

const within = { expireTime: () => inMinutes(30), allowedAddresses: ["127.0.0.1/32"] };

/** The fields of a key that goes no further than any credential of the cast. */
const withinFields = () => ({ ...within, expireTime: within.expireTime() });

const further = async (call: Promise<unknown>): Promise<"further"> => {
  await call;
  return "further";
};

/** A key that a limited key makes has the same limit. */
const ofKey = async (call: Promise<{ readonly limited?: boolean } | undefined>): Promise<"within" | "further"> =>
  (await call)?.limited === true ? "within" : "further";

const key = (fields: object) => ({ name: uniqueName("made"), ...fields });

type MakeKey = (caller: WayCaller, fields: object) => Promise<{ readonly limited?: boolean } | undefined>;

function keyAttempt(make: MakeKey): Attempt {
  return {
    furthest: [(caller) => ofKey(make(caller, {}))],
    within: [(caller) => ofKey(make(caller, withinFields()))],
  };
}

const identity = (cast: WayCast) => ({
  name: uniqueName("linked"),
  identityProviderPath: cast.provider,
  subject: uniqueName("subject"),
});

const createsAll = { onFirstSignIn: IdentityProvider_OnFirstSignIn.CREATE, firstSignInCondition: "true" };
const createsNobody = { onFirstSignIn: IdentityProvider_OnFirstSignIn.REFUSE };

const newProvider = () => {
  const issuer = "https://login.example.com";
  return { name: uniqueName("idp"), issuer, clientId: "tenantry", ...createsAll };
};

const once = (...furthest: readonly Call[]): Attempt => ({ furthest, within: [] });

/** Compares what a token is good for with the credential that got it. */
function compare(made: Reach, { reach }: WayCaller, endsWithIt = true): "within" | "further" {
  const narrows = (own: readonly string[], others: readonly string[]) => own.every((each) => others.includes(each));
  const isWithin =
    made.end <= reach.end &&
    narrows(made.scopes, reach.scopes) &&
    (reach.addresses.length === 0 || (made.addresses.length > 0 && narrows(made.addresses, reach.addresses))) &&
    (!endsWithIt || made.sessionId === reach.sessionId);
  return isWithin ? "within" : "further";
}

const tokensOf = ({ api }: WayCaller) => createClient(TokensService, api.transport);

const lifetime = { seconds: 43_200n };

const newClient = (fields: object = {}) => ({ name: uniqueName("app"), redirectUris: [redirectUri], ...fields });

/** Returns an attempt to change a client of the org. */
const changeClient =
  (before: object, client: object, paths: string[]): Call =>
  async ({ api }, { api: operator, org }) => {
    const { path } = await operator.clients.createClient({ parentPath: org, client: newClient(before) });
    return further(api.clients.updateClient({ path, client, updateMask: { paths } }));
  };

const secondUri = "https://other.example.com/callback";

/** Adds a redirect URI, scopes, or all scopes. */
const widerClients: readonly Call[] = [
  changeClient({}, { redirectUris: [redirectUri, secondUri] }, ["redirect_uris"]),
  changeClient({ scopes: ["iam.orgs.get"] }, { scopes: ["iam.orgs.*"] }, ["scopes"]),
  changeClient({ scopes: ["iam.orgs.get"] }, { scopes: [] }, ["scopes"]),
];

/** Takes scopes and a redirect URI away. */
const narrowerClient = changeClient(
  { redirectUris: [redirectUri, secondUri] },
  { redirectUris: [redirectUri], scopes: ["iam.orgs.get"] },
  ["redirect_uris", "scopes"],
);

/** Restores a member that was taken back. */
const restore =
  (how: "undelete" | "activate"): Call =>
  async ({ api }, { api: operator, org }) => {
    const { path, id } = await operator.members.createMember({ parentPath: org, member: { name: uniqueName("m") } });
    if (how === "activate") {
      await operator.members.suspendMember({ path });
      return further(api.members.activateMember({ path }));
    }
    await operator.members.deleteMember({ path });
    return further(api.members.undeleteMember({ path: `${org}/members/@${id}` }));
  };

/** By way and method, as in the table. */
export const attempts: Readonly<Record<string, Readonly<Record<string, Attempt>>>> = {
  "create an API key": {
    CreateApiKey: keyAttempt(({ api, memberPath }, fields) =>
      api.apiKeys.createApiKey({ parentPath: memberPath, apiKey: key(fields) }),
    ),
    BatchCreateApiKeys: keyAttempt(async ({ api, memberPath }, fields) => {
      const requests = [{ apiKey: key(fields) }];
      return (await api.apiKeys.batchCreateApiKeys({ parentPath: memberPath, requests })).apiKeys[0];
    }),
    UpdateApiKey: keyAttempt(({ api, memberPath }, fields) => {
      const apiKey = key(fields);
      return api.apiKeys.updateApiKey({ path: `${memberPath}/apiKeys/${apiKey.name}`, apiKey, allowMissing: true });
    }),
  },
  "confirm an API key": {
    ConfirmApiKey: {
      furthest: [
        async ({ api, memberPath }, cast) =>
          further(api.apiKeys.confirmApiKey({ path: (await cast.makeLimited(memberPath)).path })),
      ],
      within: [
        async ({ api, memberPath }, cast) =>
          further(api.apiKeys.confirmApiKey({ path: (await cast.makeLimited(memberPath, withinFields())).path })),
      ],
    },
  },
  "rotate an API key": {
    RotateApiKey: {
      furthest: [
        async ({ api, memberPath }, cast) =>
          ofKey(api.apiKeys.rotateApiKey({ path: (await cast.makeKey(memberPath)).path, name: uniqueName("next") })),
      ],
      within: [
        async ({ api, memberPath }, cast) => {
          const { path } = await cast.makeKey(memberPath, withinFields());
          return ofKey(api.apiKeys.rotateApiKey({ path, name: uniqueName("next"), expireTime: within.expireTime() }));
        },
        async ({ api, key: own }) => {
          if (own === undefined) throw new Refused();
          return ofKey(api.apiKeys.rotateApiKey({ path: own.path, name: uniqueName("next") }));
        },
      ],
    },
  },
  "link an identity": {
    CreateIdentity: once(({ api, memberPath }, cast) =>
      further(api.identities.createIdentity({ parentPath: memberPath, identity: identity(cast) })),
    ),
    BatchCreateIdentities: once(({ api, memberPath }, cast) => {
      const requests = [{ identity: identity(cast) }];
      return further(api.identities.batchCreateIdentities({ parentPath: memberPath, requests }));
    }),
    UpdateIdentity: once(({ api, memberPath }, cast) => {
      const made = identity(cast);
      const path = `${memberPath}/identities/${made.name}`;
      return further(api.identities.updateIdentity({ path, identity: made, allowMissing: true }));
    }),
  },
  "invite a person": {
    InviteMember: once(({ api }, { org }) => {
      const member = { name: uniqueName("guest"), email: `${uniqueName("guest")}@example.com` };
      return further(api.members.inviteMember({ parentPath: org, member }));
    }),
    SendInvitation: once(async ({ api }, { api: operator, org }) => {
      const email = `${uniqueName("guest")}@example.com`;
      const member = { name: uniqueName("guest"), email, invitationExpireTime: inMinutes(30) };
      const { path } = await operator.members.createMember({ parentPath: org, member });
      return further(api.members.sendInvitation({ path }));
    }),
  },
  "let a provider create members": {
    CreateIdentityProvider: once(({ api }, { org }) =>
      further(api.identityProviders.createIdentityProvider({ parentPath: org, identityProvider: newProvider() })),
    ),
    BatchCreateIdentityProviders: once(({ api }, { org: parentPath }) => {
      const requests = [{ parentPath, identityProvider: newProvider() }];
      return further(api.identityProviders.batchCreateIdentityProviders({ parentPath, requests }));
    }),
    UpdateIdentityProvider: once(async ({ api }, { api: operator, org: parentPath }) => {
      const identityProvider = { ...newProvider(), ...createsNobody };
      const { path } = await operator.identityProviders.createIdentityProvider({ parentPath, identityProvider });
      return further(api.identityProviders.updateIdentityProvider({ path, identityProvider: createsAll }));
    }),
  },
  "get a token": {
    IssueToken: once(async (caller, cast) => {
      const { accessToken } = await tokensOf(caller).issueToken({ lifetime });
      return compare(await reachOf(cast.api, accessToken), caller);
    }),
    "/oauth2/token": once(async (caller, cast) => {
      const headers = { authorization: `Bearer ${caller.credential}` };
      const form = { grant_type: "client_credentials", lifetime: "43200" };
      const { status, body } = await sendForm(cast, "token", form, headers);
      if (status !== 200) throw new Refused();
      return compare(await reachOf(cast.api, String(body["access_token"])), caller);
    }),
  },
  "start a session": {
    "IssueToken with start_session": once(async (caller, cast) => {
      const { accessToken } = await tokensOf(caller).issueToken({ startSession: true, lifetime });
      const token = await reachOf(cast.api, accessToken);
      const path = `${caller.memberPath}/sessions/@${token.sessionId}`;
      const { scopes, allowedAddresses: addresses, expireTime } = await cast.api.sessions.getSession({ path });
      const end = expireTime === undefined ? Infinity : timestampDate(expireTime).getTime();
      const reaches = [token, { ...token, scopes, addresses, end }];
      return reaches.every((each) => compare(each, caller, false) === "within") ? "within" : "further";
    }),
  },
  "act as an application": {
    ImpersonateMember: once(async (caller, cast) => {
      const { accessToken } = await caller.api.members.impersonateMember({ path: cast.robot, lifetime });
      return compare(await reachOf(cast.api, accessToken), caller);
    }),
  },
  "register a client": {
    CreateClient: once(({ api }, { org }) =>
      further(api.clients.createClient({ parentPath: org, client: newClient({ scopes: ["iam.orgs.get"] }) })),
    ),
    BatchCreateClients: once(({ api }, { org }) =>
      further(api.clients.batchCreateClients({ parentPath: org, requests: [{ client: newClient() }] })),
    ),
    "UpdateClient with allow_missing": once(({ api }, { org }) => {
      const client = newClient();
      return further(api.clients.updateClient({ path: `${org}/clients/${client.name}`, client, allowMissing: true }));
    }),
  },
  "change a client": { UpdateClient: { furthest: widerClients, within: [narrowerClient] } },
  "replace the secret of a client": {
    RotateClient: once(async ({ api }, { api: operator, org }) => {
      const client = newClient({ confidential: true });
      const { path } = await operator.clients.createClient({ parentPath: org, client });
      return further(api.clients.rotateClient({ path }));
    }),
  },
  "allow a client": {
    "/oauth2/authorize/decision": once(async ({ credential, cookie = "", memberPath }, { url, consent }) => {
      const request = callsOf(() => consent).queryOf(newPkce());
      const response = await fetch(`${url}/oauth2/authorize/decision`, {
        method: "POST",
        body: new URLSearchParams({ request, member: memberPath, decision: "allow" }),
        headers: { ...ofPage, cookie, authorization: `Bearer ${credential}` },
        redirect: "manual",
      });
      if (!(response.headers.get("location") ?? "").includes("code=")) throw new Refused();
      return "further";
    }),
  },
  "restore a member": { UndeleteMember: once(restore("undelete")), ActivateMember: once(restore("activate")) },
};
