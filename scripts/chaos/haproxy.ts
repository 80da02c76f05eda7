// HAProxy in front of the servers and of the database.
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import type { Workplace } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";

export interface ProxyPorts {
  /** Where clients call. */
  readonly api: number;
  /** Where servers reach the database that accepts writes. */
  readonly database: number;
  readonly servers: readonly number[];
  /** How long a server may take to answer a check; by default, a second, after which one that is silent is left. */
  readonly checkSeconds?: number;
  /** Whether the calls of a server that is down are ended; by default, they are: one that is silent would never answer them. */
  readonly endsCalls?: boolean;
  /** Where clients call with TLS, and the file with its certificate and key. */
  readonly tls?: { readonly port: number; readonly file: string };
  /** By the names of the databases. */
  readonly databases: Readonly<Record<string, number>>;
}

export interface Proxy {
  /** Sends all connections to this database, and ends those to the others. */
  useDatabase(name: string): Promise<void>;
  /** Sends nobody to any database, and ends all connections. */
  useNoDatabase(): Promise<void>;
  /** Uses what the file with the certificate has now for connections that are opened from now on. */
  reloadCertificate(): Promise<void>;
}

/** Returns an answer of the proxy itself in the form of the API's errors. */
const failure = (code: number, status: string): string =>
  `http-error status ${code} content-type application/json string ` +
  `'{"error":{"code":${code},"status":"${status}","message":"answered by the proxy","details":[]}}'`;

/**
 * Requests are sent to a second server only if the connection to the first cannot be opened: then the first has not seen them. A
 * server whose connections are silent is found by the checks.
 */
function configOf(socket: string, ports: ProxyPorts): string {
  const { api, database, servers, checkSeconds = 1, endsCalls = true, tls, databases } = ports;
  const ofDown = endsCalls ? " on-marked-down shutdown-sessions" : "";
  const names = servers.map((_port, index) => `server${index}`);
  const each = (options: (index: number) => string): string[] =>
    names.map((name, index) => `  server ${name} 127.0.0.1:${servers[index]} ${options(index)}`);
  return [
    "global",
    `  stats socket ${socket} level admin`,
    "  maxconn 4000",
    "defaults",
    "  timeout connect 2s",
    `  timeout check ${checkSeconds}s`,
    "  timeout client 60s",
    "  timeout server 60s",
    "  retries 2",
    "  option redispatch 1",
    "frontend api",
    "  mode http",
    `  bind 127.0.0.1:${api}`,
    ...(tls === undefined ? [] : [`  bind 127.0.0.1:${tls.port} ssl crt ${tls.file} alpn h2,http/1.1`]),
    "  option forwardfor",
    "  use_backend grpc if { req.hdr(content-type) -m beg application/grpc }",
    "  default_backend servers",
    `  ${failure(502, "UNAVAILABLE")}`,
    `  ${failure(503, "UNAVAILABLE")}`,
    `  ${failure(504, "DEADLINE_EXCEEDED")}`,
    "backend servers",
    "  mode http",
    "  balance roundrobin",
    "  retry-on conn-failure",
    "  option httpchk GET /readyz",
    `  default-server inter 500ms fall 2 rise 1${ofDown}`,
    ...each(() => "check"),
    "backend grpc",
    "  mode http",
    "  balance roundrobin",
    "  retry-on conn-failure",
    ...(endsCalls ? [`  default-server${ofDown}`] : []),
    ...each((index) => `proto h2 track servers/server${index}`),
    "frontend database",
    "  mode tcp",
    "  timeout client 1h",
    `  bind 127.0.0.1:${database}`,
    "  default_backend databases",
    "backend databases",
    "  mode tcp",
    "  timeout server 1h",
    ...Object.entries(databases).map(([name, port]) => `  server ${name} 127.0.0.1:${port} disabled`),
    "",
  ].join("\n");
}

export async function startProxy(workplace: Workplace, ports: ProxyPorts): Promise<Proxy> {
  const socket = join(workplace.directory, "haproxy.sock");
  const config = join(workplace.directory, "haproxy.cfg");
  writeFileSync(config, configOf(socket, ports));
  const program = workplace.start("haproxy", "haproxy", ["-db", "-f", config]);
  await waitUntil("HAProxy answers", async () => {
    if (!program.isRunning()) throw new Error("HAProxy has ended");
    return (await ask(socket, "show info")) !== "";
  });
  const withdraw = async (name: string): Promise<void> => {
    await ask(socket, `set server databases/${name} state maint`);
    await ask(socket, `shutdown sessions server databases/${name}`);
  };
  return {
    async useDatabase(name) {
      for (const other of Object.keys(ports.databases)) if (other !== name) await withdraw(other);
      await ask(socket, `set server databases/${name} state ready`);
    },
    async useNoDatabase() {
      for (const name of Object.keys(ports.databases)) await withdraw(name);
    },
    async reloadCertificate() {
      if (ports.tls === undefined) throw new Error("HAProxy has no certificate");
      const { file } = ports.tls;
      // An empty line ends it.
      await ask(socket, `set ssl cert ${file} <<\n${readFileSync(file, "utf8").trim()}\n`);
      const answer = await ask(socket, `commit ssl cert ${file}`);
      if (!answer.includes("Success")) throw new Error(`HAProxy keeps its certificate: ${answer}`);
    },
  };
}

/** Sends one command to HAProxy, and returns its answer. */
async function ask(path: string, command: string): Promise<string> {
  const socket = net.connect(path);
  socket.end(`${command}\n`);
  let answer = "";
  for await (const text of socket.setEncoding("utf8")) answer += String(text);
  return answer;
}
