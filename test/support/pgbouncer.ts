// PgBouncer, in the mode in which each transaction may have another connection.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import net from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";
import { startSilentProxy } from "./silent-proxy.ts";

const { status, stdout } = spawnSync("pgbouncer", ["--version"], { encoding: "utf8" });

export const hasPgBouncer = status === 0;

const [, major = "0", minor = "0"] = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? "") ?? [];

/** Whether it can keep prepared statements, as from version 1.21 on. */
export const keepsStatements = hasPgBouncer && (Number(major) > 1 || Number(minor) >= 21);

/**
 * Starts PgBouncer until the end of the test, and returns the URL of the database behind it.
 *
 * @param keptStatements how many prepared statements each connection has, if PgBouncer can keep them; 0 for none.
 */
export async function startPgBouncer(databaseUrl: string, connections: number, keptStatements = 0): Promise<string> {
  // PostgreSQL listens on a socket whose clients it knows by their user, which is not that of PgBouncer.
  const proxy = await startSilentProxy(databaseUrl);
  const { hostname, port: databasePort, username, pathname } = new URL(proxy.url);
  const directory = await mkdtemp(join(tmpdir(), "tenantry-pgbouncer-"));
  const port = await freePort();
  const config = join(directory, "pgbouncer.ini");
  const name = pathname.slice(1);
  const lines = [
    "[databases]",
    `${name} = host=${hostname} port=${databasePort}${username === "" ? "" : ` user=${username}`}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${connections}`,
    "max_client_conn = 200",
    ...(keepsStatements ? [`max_prepared_statements = ${keptStatements}`] : []),
  ];
  await writeFile(config, `${lines.join("\n")}\n`);
  await chmod(directory, 0o755);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  const child = spawn("pgbouncer", ["-q", config], { stdio: "ignore", ...user });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    proxy.close();
    await rm(directory, { recursive: true, force: true });
  });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    await sleep(20);
  }
  return `postgres://${username || "tenantry"}@127.0.0.1:${port}/${name}`;
}

const idOf = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
