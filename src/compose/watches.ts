import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { createLoggedMessage } from "../events/changes/logged-messages.ts";
import type { ChangesDependencies } from "../events/changes/dependencies.ts";
import { createKeyPath, createOwnerPaths } from "../events/changes/logged-place.ts";
import { createStatePages } from "../events/watch/state-pages.ts";
import type { MakesMessages } from "../events/watch/responses.ts";
import { createWatches } from "../events/watch/watches.ts";
import type { Installation } from "../identity/installation.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import type { Access } from "./access.ts";
import type { Identity } from "./identity.ts";

const pollMs = 1_000;

interface Parts {
  readonly database: Database;
  readonly installation: Installation;
  readonly registry: ResourceRegistry;
  readonly access: Pick<Access, "authorise" | "snapshots">;
  readonly identity: Pick<Identity, "signHead">;
  readonly logger: Logger;
  /** For how long a stream is silent before it sends a checkpoint, in milliseconds. */
  readonly checkpointMs: number;
}

/** Creates what follows the logs for those who watch them. */
export function composeWatches({
  database,
  installation,
  registry,
  access,
  identity: { signHead },
  logger,
  checkpointMs,
}: Parts): Pick<ChangesDependencies, "watches" | "statePages" | keyof MakesMessages> {
  const { authoriserOf, authoriserIn } = access.authorise;
  const makes: MakesMessages = {
    loggedMessage: createLoggedMessage(registry),
    keyPathOf: createKeyPath(registry),
    ownerPathsOf: createOwnerPaths(registry),
  };
  const onError = (err: unknown): void => logger.warn({ err }, "failed to follow the change log; it is tried again");
  const parts = { database, registry, ...makes, snapshots: access.snapshots, authoriserOf, authoriserIn, signHead };
  const statePages = createStatePages({ database, registry, installation });
  return { watches: createWatches({ ...parts, pollMs, checkpointMs, onError }), statePages, ...makes };
}
