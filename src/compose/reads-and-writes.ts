import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { Installation } from "../identity/installation.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import { createRevalidatedResponses } from "../standard-methods/read/revalidated-responses.ts";
import { createPageTokens } from "../standard-methods/read/page-token.ts";
import { createRowReaders } from "../standard-methods/read/row-reader.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";
import { createWriteQueues } from "../standard-methods/write/write-queues.ts";
import type { Access } from "./access.ts";

type Settings = Pick<Config, "answerMemoryBytes" | "writeConnections">;

interface Parts {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly installation: Pick<Installation, "pageTokenKey">;
  readonly access: Pick<Access, "heads">;
}

/** What the standard methods read from, and where writes wait. */
export type ReadsAndWrites = Pick<
  ResourceDependencies,
  "revalidatedResponses" | "pageTokens" | "readers" | "writeGroups" | "writeQueue"
>;

export function composeReadsAndWrites({ answerMemoryBytes, writeConnections }: Settings, parts: Parts): ReadsAndWrites {
  const { database, registry, installation, access } = parts;
  return {
    readers: createRowReaders(database, registry),
    pageTokens: createPageTokens(installation.pageTokenKey),
    revalidatedResponses: createRevalidatedResponses(access.heads, answerMemoryBytes),
    ...createWriteQueues(database, writeConnections),
  };
}
