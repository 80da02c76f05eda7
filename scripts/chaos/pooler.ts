// PgBouncer between the servers and the database, which gives each transaction any connection.
import { writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import type { Workplace } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

/** Fewer connections than the servers would open, so that they share them. Their writes and analyses leave some for lookups. */
const connections = 14;
const writeConnections = 3;

interface Pooler {
  /** The database behind it. */
  readonly databaseUrl: string;
  /** Environment variables for the servers. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts PgBouncer. */
export async function startPooler(workplace: Workplace, port: number, databasePort: number): Promise<Pooler> {
  const file = join(workplace.directory, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `tenantry = host=127.0.0.1 port=${databasePort} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${connections}`,
    "max_client_conn = 500",
    // While there is no database, it answers instead of letting its clients wait.
    "query_wait_timeout = 10",
    "server_login_retry = 1",
    "",
  ];
  writeFileSync(file, lines.join("\n"));
  // Like PostgreSQL, it refuses to run as root.
  const program = workplace.start("pgbouncer", "pgbouncer", [file], { user: workplace.postgresUser });
  await waitUntil("PgBouncer accepts connections", async () => {
    if (!program.isRunning()) throw new Error("PgBouncer has ended");
    return accepts(port);
  });
  return {
    databaseUrl: `postgres://postgres@127.0.0.1:${port}/tenantry`,
    settings: { TENANTRY_PREPARED_STATEMENTS: "off", TENANTRY_WRITE_CONNECTIONS: String(writeConnections) },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
