import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import { createRecordLogRead, createRecordRead } from "../events/changes/record-read.ts";
import { createSendToStream, createSendToWebhook } from "../events/deliveries/send.ts";
import { createSignalCounts } from "../events/signals/counts.ts";
import { createOpenPastOrg } from "../iam/access-checks/as-of.ts";
import { traceSends } from "../identity/outgoing/trace-sends.ts";
import type { Installation } from "../identity/installation.ts";
import type { Mailer } from "../identity/outgoing/mailer.ts";
import type { Sealer } from "../identity/sealer.ts";
import type { SigningKeys } from "../identity/tokens/signing-keys.ts";
import { createProjectContents } from "../resources/project-contents.ts";
import type { ServiceDependencies } from "../rpc/services.ts";
import { createPastReads } from "../standard-methods/past/past-reads.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { Access } from "./access.ts";
import type { Contract } from "./contract.ts";
import type { Identity } from "./identity.ts";
import type { ReadsAndWrites } from "./reads-and-writes.ts";
import type { composeWatches } from "./watches.ts";
import type { Scheduling } from "./scheduling.ts";

type Settings = Pick<
  Config,
  | "changeLogDays"
  | "heldLogDays"
  | "identityProviderNetworks"
  | "invitationMailsPerHour"
  | "limits"
  | "requestTimeoutMs"
  | "retentionDays"
  | "webhookNetworks"
>;

interface Parts {
  readonly database: Database;
  readonly installation: Installation;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  /** Undefined for a service that sends no mail. */
  readonly mailer: Mailer | undefined;
  /** The URL of the service, as its clients know it. */
  readonly issuer: () => string;
  readonly contract: Contract;
  readonly scheduling: Scheduling;
  readonly access: Pick<Access, "longReads" | "ofHandlers" | "pastSnapshots" | "pastTurns">;
  readonly identity: Pick<Identity, "impersonation" | "signHead" | "tokenFunctions">;
  readonly readsAndWrites: ReadsAndWrites;
  readonly tracing?: Tracing | undefined;
  readonly watching: ReturnType<typeof composeWatches>;
}

/** Gathers what the handlers of all services use. Each says in its own signature which of it. */
export function composeHandlers(settings: Settings, parts: Parts): ServiceDependencies {
  const { database, installation, sealer, contract, scheduling, access, identity, readsAndWrites, watching } = parts;
  const { signingKeys, issuer, mailer } = parts;
  const { identityProviderNetworks, webhookNetworks, limits, requestTimeoutMs, retentionDays } = settings;
  const { registry, knownPermissions, predefinedRoles } = contract;
  const { listQueue, previewQueue, countRequest } = scheduling;
  const { impersonation, signHead, tokenFunctions } = identity;
  const { authoriserOf } = access.ofHandlers;
  const recordRead = createRecordRead({ database, installation, writeQueue: readsAndWrites.writeQueue });
  const recordLogRead = createRecordLogRead(recordRead);
  const { pageTokens } = readsAndWrites;
  const { longReads, pastSnapshots, pastTurns } = access;
  return {
    ...access.ofHandlers,
    ...readsAndWrites,
    ...watching,
    database,
    installation,
    sealer,
    registry,
    knownPermissions,
    projectContents: createProjectContents(database),
    recordRead,
    openPastOrg: createOpenPastOrg({ database, authoriserOf, pastSnapshots, recordLogRead }),
    pastReads: createPastReads({
      database,
      registry,
      authoriserOf,
      pageTokens,
      turns: pastTurns,
      longReads,
      recordLogRead,
    }),
    predefinedRoles,
    listQueue,
    previewQueue,
    impersonation,
    mails: { mailer, issuer, mailsPerHour: settings.invitationMailsPerHour },
    signHead,
    tokenFunctions,
    countRefresh: (member) => countRequest(member, false),
    identityProviderNetworks,
    webhookNetworks,
    logDays: { kept: settings.changeLogDays, held: settings.heldLogDays },
    sendToWebhook: traceSends("webhook delivery", createSendToWebhook(webhookNetworks), parts.tracing),
    sendToStream: traceSends("event stream delivery", createSendToStream(webhookNetworks), parts.tracing),
    signingKeys,
    issuer,
    signalCounts: createSignalCounts(),
    limits,
    requestTimeoutMs,
    retentionDays,
  };
}
