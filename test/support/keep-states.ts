import { findRevision } from "../../src/changes/past/find-moment.ts";
import { removeStates } from "../../src/changes/past/past-states.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { registry } from "../../src/resource-registry.ts";
import { keepState } from "../../src/standard-methods/past/keep-state.ts";

/** Keeps states of orgs, and removes them, on a connection of its own. */
export interface StatesOfOrgs {
  readonly database: Database;
  /** Keeps the state of an org as of a revision. Returns false if it was not kept. */
  readonly keep: (orgId: string, revision: string) => Promise<boolean>;
  readonly remove: (orgId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function openStates(connectionString: string): StatesOfOrgs {
  const database = openDatabase({
    connection: { connectionString },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  return {
    database,
    async keep(orgId, revision) {
      return keepState({ database, registry }, orgId, await findRevision(database.reads, orgId, revision, "revision"));
    },
    async remove(id) {
      const { customer_id } = await database.reads
        .selectFrom("orgs")
        .select("customer_id")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      await removeStates(database.writes, { customer_id, id });
    },
    close: () => database.close(),
  };
}
