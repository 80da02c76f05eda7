import type { ConnectRouter } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import { type AccessLog, createAccessLog } from "../events/access-events/access-log.ts";
import type { Installation } from "../identity/installation.ts";
import type { Sealer } from "../identity/sealer.ts";
import type { SigningKeys } from "../identity/tokens/signing-keys.ts";
import { type InProcess, createInProcess } from "../rpc/call-in-process.ts";
import type { Guards } from "../rpc/guards.ts";
import { type ServiceDependencies, createServices } from "../rpc/services.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { type Access, composeAccess } from "./access.ts";
import { composeContract } from "./contract.ts";
import { composeFacades } from "./facades.ts";
import { composeGuards } from "./guards.ts";
import type { DatabaseReach } from "../database/reach.ts";
import { type Mailer, createMailer } from "../identity/outgoing/mailer.ts";
import { composeHandlers } from "./handlers.ts";
import { type Identity, composeIdentity } from "./identity.ts";
import { composeReadsAndWrites } from "./reads-and-writes.ts";
import { type Scheduling, composeScheduling } from "./scheduling.ts";
import { type SignIn, composeSignIn } from "./sign-in.ts";
import { composeWatches } from "./watches.ts";

interface Parts extends Intervals {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly installation: Installation;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  /** The URL of the service, as its clients know it. */
  readonly issuer: () => string;
  /** Undefined for a server that answers nothing while its database is away. */
  readonly reach?: DatabaseReach | undefined;
  readonly tracing?: Tracing | undefined;
  readonly logger: Logger;
}

/** In milliseconds. */
export interface Intervals {
  /** The window of the rate limits. */
  readonly rateWindowMs: number;
  /** For how long a stream of changes is silent before it sends a checkpoint. */
  readonly checkpointMs: number;
}

/** What answers calls, whichever protocol they come over. */
export interface Service {
  readonly handlers: ServiceDependencies;
  readonly guards: Guards;
  /** Registers the services, for all protocols. */
  readonly routes: (router: ConnectRouter) => void;
  /** The same methods, for facades. */
  readonly inProcess: InProcess;
  readonly signIn: SignIn;
  readonly scheduling: Pick<Scheduling, "bodySlots" | "fileQueue" | "timeSlices">;
  /** What has begun with it is to be closed before the database. */
  readonly access: Pick<Access, "job" | "longReads" | "snapshots" | "uses" | "usesJob">;
  readonly identity: Pick<Identity, "job">;
  readonly accessLog: Pick<AccessLog, "job">;
  /** Undefined for a service that sends no mail. */
  readonly mailer: Pick<Mailer, "close"> | undefined;
}

/** Composes the parts of a service in the order in which they need each other. */
export function composeService(config: Config, parts: Parts): Service {
  const contract = composeContract(parts.registry);
  const scheduling = composeScheduling(config, parts.rateWindowMs);
  const access = composeAccess(config, { ...parts, contract, timeSlices: scheduling.timeSlices });
  const identity = composeIdentity(config, { ...parts, contract, access });
  const readsAndWrites = composeReadsAndWrites(config, { ...parts, access });
  const accessLog = createAccessLog({ database: parts.database, logger: parts.logger });
  const watching = composeWatches({ ...parts, access, identity });
  const mailer = config.mail && createMailer(config.mail, parts.logger);
  const all = { ...parts, mailer, contract, scheduling, access, identity, readsAndWrites, watching, accessLog };
  const handlers = composeHandlers(config, all);
  const guards = composeGuards(config, all);
  const facades = composeFacades(
    { ...handlers, openPlannedOrg: access.openPlannedOrg },
    scheduling,
    guards,
    () => routes,
  );
  const routes = createServices(handlers, facades);
  const inProcess = createInProcess(routes, guards);
  const signIn = composeSignIn(config, { ...all, handlers });
  return { handlers, guards, routes, inProcess, signIn, scheduling, access, identity, accessLog, mailer };
}
