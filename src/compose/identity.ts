import type { Logger } from "pino";
import { createAuthenticateInReach } from "../access/away/authenticate-in-reach.ts";
import { createAuthenticateAway } from "../access/away/authenticate-away.ts";
import { createKeptCallers } from "../access/away/kept-callers.ts";
import { createAuthenticateToken, createReadTokenState } from "../access/tokens/authenticate-token.ts";
import { type SignHead, createSignHead } from "../changes/signed-head.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseReach } from "../database/reach.ts";
import type { ImpersonationDependencies } from "../iam/members/impersonate-member.ts";
import { type TokenFunctions, createTokenFunctions } from "../iam/tokens/functions.ts";
import { createReadNarrowing } from "../iam/tokens/read-narrowing.ts";
import {
  type Authenticate,
  type AuthenticateOptions,
  type AuthenticateToken,
  createAuthenticate,
} from "../identity/authenticate.ts";
import { createCallerLookup } from "../identity/caller-lookup.ts";
import { createLastUse } from "../identity/last-use.ts";
import type { Sealer } from "../identity/sealer.ts";
import { type AccessTokens, createAccessTokens } from "../identity/tokens/access-token.ts";
import { createRefreshTokens } from "../identity/tokens/refresh-token.ts";
import type { SigningKeys } from "../identity/tokens/signing-keys.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import type { RunningJob } from "../timers/runs.ts";
import type { Access } from "./access.ts";
import type { Contract } from "./contract.ts";

type Settings = Pick<Config, "sessionDays" | "tokenLifeSeconds">;

interface Parts {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly contract: Pick<Contract, "knownPermissions">;
  readonly access: Pick<Access, "recentOrgs" | "heads" | "heldOrgs" | "ofHandlers" | "snapshots" | "uses">;
  /** Undefined for a server that answers nothing while its database is away. */
  readonly reach?: DatabaseReach | undefined;
  readonly issuer: () => string;
  readonly logger: Logger;
}

/** Who calls, by API key or token, and the tokens themselves. */
export interface Identity {
  readonly authenticate: Authenticate;
  /** The same for checks, which may be answered while the database is away. */
  readonly authenticateInReach: Authenticate;
  readonly accessTokens: AccessTokens;
  readonly tokenFunctions: TokenFunctions;
  readonly impersonation: ImpersonationDependencies;
  readonly signHead: SignHead;
  /** Stores when API keys were last used. */
  readonly job: RunningJob;
}

const lastUseIntervalMs = 30_000;

export function composeIdentity({ sessionDays, tokenLifeSeconds }: Settings, parts: Parts): Identity {
  const { database, registry, sealer, signingKeys, contract, access, issuer, logger } = parts;
  const { evaluator, viewCaller } = access.ofHandlers;
  const lastUse = createLastUse(database, lastUseIntervalMs, (err) =>
    logger.warn({ err }, "failed to store the last use times of API keys"),
  );
  const accessTokens = createAccessTokens(signingKeys, issuer, ({ clientOrgId, clientId }, now) => {
    if (clientOrgId !== undefined) access.uses.recordClient({ orgId: clientOrgId, id: clientId }, now);
  });
  const readTokenState = createReadTokenState(accessTokens, access.heads, access.snapshots, evaluator);
  const ofTokens = {
    database,
    registry,
    accessTokens,
    refreshTokens: createRefreshTokens(sealer),
    readTokenState,
    viewCaller,
    evaluator,
    knownPermissions: contract.knownPermissions,
    tokenLifeSeconds,
    sessionDays,
  };
  const authenticators = createAuthenticators(parts, {
    findCaller: createCallerLookup({ database, recentOrgs: access.recentOrgs }),
    authenticateToken: createAuthenticateToken(readTokenState),
    authenticateTokenAway: createAuthenticateAway(accessTokens, access.heldOrgs, access.snapshots, evaluator),
    onUse: (caller) => lastUse.record(caller),
  });
  return {
    ...authenticators,
    accessTokens,
    tokenFunctions: createTokenFunctions(ofTokens),
    signHead: createSignHead(() => signingKeys.signingKey(), issuer),
    impersonation: { database, accessTokens, tokenLifeSeconds, readNarrowing: createReadNarrowing(ofTokens) },
    job: { name: "last-use", ...lastUse },
  };
}

interface AuthenticatorParts extends AuthenticateOptions {
  readonly authenticateTokenAway: AuthenticateToken;
}

/** Creates what identifies callers. A server that answers while its database is away keeps who they were meanwhile. */
function createAuthenticators(
  { reach, access: { heldOrgs } }: Pick<Parts, "access" | "reach">,
  { findCaller, authenticateToken, authenticateTokenAway, onUse }: AuthenticatorParts,
): Pick<Identity, "authenticate" | "authenticateInReach"> {
  if (reach === undefined) {
    const authenticate = createAuthenticate({ findCaller, authenticateToken, onUse });
    return { authenticate, authenticateInReach: authenticate };
  }
  const kept = createKeptCallers(heldOrgs);
  const exact = createAuthenticate({ findCaller: kept.keeping(findCaller), authenticateToken, onUse });
  const held = createAuthenticate({ findCaller: kept.find, authenticateToken: authenticateTokenAway, onUse });
  const authenticate: Authenticate = async (...credential) => {
    heldOrgs.observeClocks();
    const caller = await exact(...credential);
    heldOrgs.noteTime(caller);
    return caller;
  };
  return { authenticate, authenticateInReach: createAuthenticateInReach(reach, authenticate, held) };
}
