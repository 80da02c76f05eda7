import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { OAuthDependencies } from "../sign-in/oauth/oauth-endpoints.ts";
import type { WellKnown } from "../sign-in/oauth/well-known.ts";
import type { SignInDependencies } from "../sign-in/browser/sign-in-endpoints.ts";
import type { AccessLog } from "../events/access-events/access-log.ts";
import { createNoteSignIns, noteBrowserSignIns } from "../sign-in/note-sign-ins.ts";
import { createAccount } from "../iam/account/account.ts";
import { createBrowserSessions } from "../iam/sign-in/browser-sessions.ts";
import { createSignInChoices } from "../iam/sign-in/sign-in-choices.ts";
import { createGroupJoins } from "../iam/group-members/invited-groups.ts";
import { createSponsors } from "../iam/group-members/sponsor.ts";
import { createFirstSignIns } from "../iam/sign-in/first-sign-ins.ts";
import { createContactConfirmations } from "../iam/contacts/confirmations.ts";
import { createInvitations } from "../iam/sign-in/invitations.ts";
import { createProviderSignIn } from "../iam/sign-in/provider-sign-in.ts";
import { createGuardedFetch } from "../identity/oidc/guarded-fetch.ts";
import { resolveWithDns } from "../identity/outgoing/guarded-request.ts";
import { createProviderClient } from "../identity/oidc/provider-client.ts";
import type { Installation } from "../identity/installation.ts";
import type { Sealer } from "../identity/sealer.ts";
import type { SigningKeys } from "../identity/tokens/signing-keys.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import type { Access } from "./access.ts";
import type { Contract } from "./contract.ts";
import type { Identity } from "./identity.ts";
import type { Scheduling } from "./scheduling.ts";

type Settings = Pick<Config, "identityProviderNetworks" | "retentionDays" | "tokenAlgorithm" | "tokenLifeSeconds">;

interface Parts {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly installation: Pick<Installation, "systemOrgId" | "commandLineClientId">;
  readonly contract: Pick<Contract, "knownPermissions">;
  readonly access: Pick<Access, "confirmOf">;
  readonly identity: Pick<Identity, "accessTokens" | "authenticate" | "tokenFunctions">;
  readonly scheduling: Pick<Scheduling, "countRequest">;
  readonly accessLog: Pick<AccessLog, "note">;
  /** What the rules need by which members are added to groups. */
  readonly handlers: ResourceDependencies;
  readonly issuer: () => string;
  readonly logger: Logger;
}

/** What OAuth, the sign-in and the readers of the public keys need, without what depends on requests. */
export interface SignIn {
  readonly oauth: Omit<OAuthDependencies, "addressOf" | "originOf">;
  readonly signIn: Omit<SignInDependencies, "originOf">;
  readonly wellKnown: WellKnown;
}

/** A sign-in calls its provider four times. */
const providerCallLimits = { timeoutMs: 5_000, maxBytes: 262_144 };

export function composeSignIn(settings: Settings, parts: Parts): SignIn {
  const { identityProviderNetworks: networks, tokenAlgorithm: algorithm, tokenLifeSeconds, retentionDays } = settings;
  const { database, registry, sealer, signingKeys, installation, contract, access, identity } = parts;
  const { scheduling, handlers, issuer, logger } = parts;
  const { systemOrgId, commandLineClientId } = installation;
  const { accessTokens, authenticate, tokenFunctions } = identity;
  const { countRequest: count } = scheduling;
  const guardedFetch = createGuardedFetch({ networks, resolveHost: resolveWithDns, ...providerCallLimits });
  const providers = createProviderClient(guardedFetch, networks);
  const noteSignIns = createNoteSignIns(parts.accessLog.note);
  const sponsors = createSponsors(handlers);
  const ofBrowsers = { database, registry, accessTokens, tokenLifeSeconds };
  return {
    oauth: {
      database,
      authenticate,
      tokenFunctions,
      noteSignIns,
      count,
      confirmOf: (caller) => access.confirmOf(caller, []),
      issuer,
      logger,
    },
    signIn: {
      database,
      ...noteBrowserSignIns(noteSignIns, createBrowserSessions(ofBrowsers), createSignInChoices(ofBrowsers)),
      noteSignIns,
      invitations: createInvitations({ database, registry, sponsors, systemOrgId, retentionDays }),
      contactConfirmations: createContactConfirmations(database),
      firstSignIns: createFirstSignIns({
        database,
        systemOrgId,
        limits: handlers.limits,
        sponsors,
        joins: createGroupJoins(handlers),
      }),
      sealer,
      account: createAccount({ database, registry }),
      providerSignIn: createProviderSignIn({ database, sealer, providers, systemOrgId, issuer }),
      count,
      issuer,
      systemOrgId,
      knownPermissions: contract.knownPermissions,
      logger,
    },
    wellKnown: {
      issuer,
      algorithm,
      keySet: () => signingKeys.freshKeySet(),
      logKeySet: () => signingKeys.logKeySet(),
      commandLineClientId,
    },
  };
}
