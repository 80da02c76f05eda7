// Everything that a run needs: databases, servers, and HAProxy in front of both.
import { type Databases, startDatabases } from "./databases.ts";
import type { Findings } from "./findings.ts";
import { startProxy } from "./haproxy.ts";
import { startPooler } from "./pooler.ts";
import { type Workplace, freePorts } from "./processes.ts";
import { type Servers, startServers } from "./servers.ts";
import { waitUntil } from "./wait-until.ts";

export interface Stack {
  /** Where clients call. */
  readonly url: string;
  readonly databases: Databases;
  readonly servers: Servers;
  /** Waits until all servers are ready and commits are confirmed by a standby. */
  untilWell(): Promise<void>;
}

export interface StackOptions {
  /** Whether PgBouncer is between the servers and the database. */
  readonly pooler: boolean;
  /** Whether what the servers hold is watched. */
  readonly soak: boolean;
}

export async function startStack(
  workplace: Workplace,
  findings: Findings,
  { pooler: hasPooler, soak }: StackOptions,
): Promise<Stack> {
  const [api = 0, database = 0, pooler = 0, a = 0, b = 0, ...serverPorts] = await freePorts(8);
  const proxy = await startProxy(workplace, { api, database, servers: serverPorts, databases: { a, b } });
  const databases = await startDatabases(workplace, { a, b }, proxy);
  const direct = { databaseUrl: `postgres://postgres@127.0.0.1:${database}/tenantry`, settings: {} };
  const connection = hasPooler ? await startPooler(workplace, pooler, database) : direct;
  const servers = await startServers(workplace, serverPorts, { ...connection, tellMemory: soak }, findings);
  const url = `http://127.0.0.1:${api}`;
  await waitUntil("HAProxy has a server", async () => (await fetch(`${url}/readyz`)).ok);
  return {
    url,
    databases,
    servers,
    async untilWell() {
      await databases.untilReplicated();
      for (const server of servers.all) await server.untilReady();
    },
  };
}
