import type { Logger } from "pino";
import { createAuthenticateToken, createReadTokenState } from "../access/tokens/authenticate-token.ts";
import { type SignHead, createSignHead } from "../changes/signed-head.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { ImpersonationDependencies } from "../iam/members/impersonate-member.ts";
import { type TokenFunctions, createTokenFunctions } from "../iam/tokens/functions.ts";
import { createReadNarrowing } from "../iam/tokens/read-narrowing.ts";
import { type Authenticate, createAuthenticate } from "../identity/authenticate.ts";
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
  readonly access: Pick<Access, "recentOrgs" | "heads" | "ofHandlers" | "snapshots" | "uses">;
  readonly issuer: () => string;
  readonly logger: Logger;
}

/** Who calls, by API key or token, and the tokens themselves. */
export interface Identity {
  readonly authenticate: Authenticate;
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
  return {
    authenticate: createAuthenticate({
      database,
      authenticateToken: createAuthenticateToken(readTokenState),
      recentOrgs: access.recentOrgs,
      onUse: (caller) => lastUse.record(caller),
    }),
    accessTokens,
    tokenFunctions: createTokenFunctions(ofTokens),
    signHead: createSignHead(() => signingKeys.signingKey(), issuer),
    impersonation: { database, accessTokens, tokenLifeSeconds, readNarrowing: createReadNarrowing(ofTokens) },
    job: { name: "last-use", ...lastUse },
  };
}
