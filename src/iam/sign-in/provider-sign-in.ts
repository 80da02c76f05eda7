// A person signs in at an identity provider. What binds the answer of the provider to the browser is encrypted in a cookie, so
// that it is the same on all servers, and calls without a sign-in write nothing.
import { randomBytes } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { ServiceError, concerning } from "../../errors/service-error.ts";
import {
  type OidcProvider,
  type PersonClaims,
  type ProviderClient,
  readPersonClaims,
} from "../../identity/oidc/provider-client.ts";
import type { Sealer } from "../../identity/sealer.ts";
import {
  type SignInProviderRow,
  type LinkedIdentity,
  findIdentities,
  listSignInProviders,
  readSignInProvider,
} from "./provider-store.ts";

/** A provider on the page where a browser signs in. */
export interface ListedProvider {
  readonly id: string;
  readonly displayName: string;
  /** The name of its org; undefined for one of the installation. */
  readonly org: string | undefined;
}

/** Where a sign-in leads: a path of the service, and the org whose providers were offered, if any. */
interface Destination {
  readonly returnPath: string;
  readonly org: string | undefined;
}

/** The path of the page of an invitation, which a sign-in that leads there asks for the address of its person. */
export const invitationPath = "/sign-in/invitation";

export interface SignedInPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly providerId: string;
  readonly providerName: string;
  /** What the provider says of the address of a person who comes for an invitation; undefined for others. */
  readonly claims: PersonClaims | undefined;
  /** The name of the provider's org; undefined for a provider of the installation. */
  readonly org: string | undefined;
  /** The person's identities, also those that it has not accepted; none for a person whom nobody has linked. */
  readonly identities: readonly LinkedIdentity[];
  /** Set for somebody whom nobody has linked, at a provider that creates members: the provider, and all that it says. */
  readonly newcomer?: Newcomer | undefined;
}

/** Somebody for whom a provider may create a member. */
export interface Newcomer {
  readonly provider: SignInProviderRow;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface ProviderSignIn {
  /** Returns the providers of the installation, and then those of an org. */
  list(orgName: string | undefined): Promise<readonly ListedProvider[]>;
  /**
   * Starts a sign-in.
   *
   * @param again whether the person is to sign in at the provider again, as somebody else perhaps.
   * @returns where the browser is sent, and the state and the value of the cookie that it needs to come back.
   * @throws ServiceError GRANT_INVALID or SERVICE_UNAVAILABLE
   */
  start(providerId: string, destination: Destination, again?: boolean): Promise<StartedSignIn>;
  /** Returns where a sign-in leads that has begun, also if it fails or took too long; undefined for the cookie of another state. */
  destinationOf(state: string, cookie: string | undefined): Destination | undefined;
  /**
   * @param query the answer of the provider.
   * @param cookie of `start`.
   * @throws ServiceError GRANT_INVALID or SERVICE_UNAVAILABLE
   */
  finish(providerId: string, query: URLSearchParams, cookie: string | undefined): Promise<SignedInPerson>;
}

interface StartedSignIn {
  readonly url: URL;
  readonly state: string;
  readonly cookie: string;
}

interface ProviderSignInDependencies {
  readonly database: Database;
  readonly sealer: Pick<Sealer, "seal" | "open">;
  readonly providers: ProviderClient;
  readonly systemOrgId: string;
  /** The URL of the service, without a path. */
  readonly issuer: () => string;
}

/** What the cookie holds, encrypted together with the state. */
interface Started {
  readonly provider: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnPath: string;
  readonly org?: string | undefined;
  /** By the database's clock, in milliseconds. */
  readonly expireTime: number;
}

const lifeMs = 600_000;

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createProviderSignIn(dependencies: ProviderSignInDependencies): ProviderSignIn {
  const { database, sealer, providers, systemOrgId, issuer } = dependencies;

  const orgNameOf = (row: SignInProviderRow): string | undefined =>
    row.org_id === systemOrgId ? undefined : row.org_name;

  /** One of the installation serves all orgs, and creates members in none. */
  const createsMembers = (row: SignInProviderRow): boolean => row.creates_members && row.org_id !== systemOrgId;

  const redirectUriOf = (id: string): string => `${issuer()}/sign-in/callback/${id}`;

  const find = async (id: string): Promise<SignInProviderRow> => {
    const row = idPattern.test(id) ? await readSignInProvider(database.reads, id) : undefined;
    if (row !== undefined) return row;
    throw new ServiceError("GRANT_INVALID", "there is no such identity provider");
  };

  return {
    async list(orgName) {
      const rows = await listSignInProviders(database.reads, systemOrgId, orgName);
      return rows.map((row) => ({ id: row.id, displayName: row.display_name, org: orgNameOf(row) }));
    },

    async start(providerId, { returnPath, org }, again = false) {
      const row = await find(providerId);
      const provider = openProvider(sealer, row);
      const [state, nonce, verifier] = [randomText(), randomText(), randomText()];
      const secrets = { state, nonce, verifier };
      const wishes = { scopes: scopesFor(returnPath === invitationPath, createsMembers(row)), again };
      const url = await providers.authorizationUrl(provider, redirectUriOf(providerId), secrets, wishes);
      const started: Started = {
        provider: providerId,
        nonce,
        verifier,
        returnPath,
        org,
        expireTime: row.now + lifeMs,
      };
      const sealed = sealer.seal("sign-in", state, Buffer.from(JSON.stringify(started)));
      return { url, state, cookie: sealed.toString("base64url") };
    },

    destinationOf(state, cookie) {
      const started = openCookie(sealer, state, cookie);
      return started && { returnPath: started.returnPath, org: started.org };
    },

    async finish(providerId, query, cookie) {
      const state = query.get("state") ?? "";
      const row = await find(providerId);
      const { nonce, verifier, returnPath } = openStarted(sealer, row, state, cookie);
      const response = new URL(`${redirectUriOf(providerId)}?${query.toString()}`);
      const secrets = { state, nonce, verifier };
      const isInvited = returnPath === invitationPath;
      const concerned = (error: unknown): never => {
        throw orgNameOf(row) === undefined ? error : concerning(error, { orgId: row.org_id });
      };
      const redeeming = providers.redeem(openProvider(sealer, row), response, secrets);
      const { subject, readClaims } = await redeeming.catch(concerned);
      const identities = await findIdentities(database.reads, row, systemOrgId, subject);
      const isNew = identities.length === 0 && !isInvited && createsMembers(row);
      // Who is linked signs in also if the userinfo endpoint does not answer.
      const claims = isInvited || isNew ? await readClaims().catch(concerned) : {};
      const newcomer = isNew ? { provider: row, subject, claims } : undefined;
      const invited = isInvited ? readPersonClaims(claims) : undefined;
      const who = { issuer: row.issuer, subject, providerId, providerName: row.display_name };
      return { ...who, claims: invited, org: orgNameOf(row), identities, newcomer };
    },
  };
}

/** Which scopes a sign-in asks for besides those that are set. */
function scopesFor(isInvited: boolean, createsMembers: boolean): readonly string[] {
  if (isInvited) return ["email"];
  return createsMembers ? ["email", "profile"] : [];
}

/** 256 random bits. */
const randomText = (): string => randomBytes(32).toString("base64url");

type Opener = Pick<Sealer, "open">;

/** @throws ServiceError GRANT_INVALID */
function openProvider(sealer: Opener, row: SignInProviderRow): OidcProvider {
  const { org_id: orgId, issuer: ofProvider, client_id: clientId, scopes, sealed_secret: sealed } = row;
  const secret = sealed === null ? undefined : sealer.open("client secret", row.id, sealed);
  if (sealed !== null && secret === undefined) {
    const message = "the secret of the identity provider was encrypted with a key that this server does not have";
    throw new ServiceError("GRANT_INVALID", message);
  }
  const { token_endpoint_auth_method: authMethod, subject_claim: subjectClaim } = row;
  return { orgId, issuer: ofProvider, clientId, clientSecret: secret?.toString(), authMethod, scopes, subjectClaim };
}

function openCookie(sealer: Opener, state: string, cookie: string | undefined): Started | undefined {
  const opened = sealer.open("sign-in", state, Buffer.from(cookie ?? "", "base64url"));
  return opened && (JSON.parse(opened.toString()) as Started);
}

/** Returns a sign-in that the browser of a cookie has begun at a provider, and that has not taken too long. @throws ServiceError GRANT_INVALID */
function openStarted(sealer: Opener, row: SignInProviderRow, state: string, cookie: string | undefined): Started {
  const started = openCookie(sealer, state, cookie);
  // Each provider has its own redirect URI, so that none can get the code of another one.
  if (started?.provider === row.id && started.expireTime > row.now) return started;
  throw new ServiceError(
    "GRANT_INVALID",
    "this browser did not start the sign-in, started several others since, or took more than ten minutes; sign in again",
  );
}
