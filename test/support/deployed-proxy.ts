// The proxies of deploy/, with their addresses and certificates replaced by those of a test.
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "./free-port.ts";

const deploy = join(import.meta.dirname, "../../deploy");

export const run = (program: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(program, args, { encoding: "utf8" });

export interface ProxyProgram {
  readonly program: string;
  readonly file: string;
  readonly args: (file: string, directory: string) => readonly string[];
  readonly checks: readonly string[];
  readonly listen: string;
  /** What the reload of its unit sends to it. */
  readonly reload: NodeJS.Signals;
}

const all: readonly ProxyProgram[] = [
  {
    program: "nginx",
    file: "nginx/tenantry.conf",
    listen: "listen 443",
    checks: ["-t"],
    reload: "SIGHUP",
    args(file, directory) {
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${directory}/${name};`,
      );
      const main = join(directory, "nginx.conf");
      writeFileSync(
        main,
        `daemon off; ${process.getuid?.() === 0 ? "user root;" : ""} pid ${directory}/pid; error_log stderr warn; events {}
         http { access_log off; ${paths.join(" ")} include ${file}; }`,
      );
      return ["-c", main, "-e", "stderr"];
    },
  },
  {
    program: "haproxy",
    file: "haproxy/haproxy.cfg",
    listen: "bind :443",
    checks: ["-c"],
    reload: "SIGUSR2",
    // As the unit of Debian does, without systemd: a process that starts others, which serve.
    args: (file) => ["-W", "-db", "-f", file],
  },
];

/** Those that there are. */
export const proxies = all.filter(({ program }) => run(program, "-v").error === undefined);

export interface DeployedProxy {
  readonly url: string;
  /** Lets it take a new certificate, as docs/operating.md says. */
  renew(): void;
  stop(): Promise<void>;
}

/** Starts a proxy in front of two servers, by their hosts, with a certificate of its own. */
export async function startProxy(
  { program, file, args, checks, listen, reload }: ProxyProgram,
  [first, second]: readonly [string, string],
): Promise<DeployedProxy> {
  const directory = mkdtempSync(join(tmpdir(), "tenantry-proxy-"));
  issueCertificate(directory);
  const port = await freePort();
  const own = join(directory, "proxy.conf");
  writeFileSync(
    own,
    readFileSync(join(deploy, file), "utf8")
      .replaceAll("/etc/tenantry/", `${directory}/`)
      .replace(listen, listen.replace(":443", `127.0.0.1:${port}`).replace(" 443", ` 127.0.0.1:${port}`))
      // A server that is busy is not one that is down.
      .replace("timeout check 1s", "timeout check 60s")
      .replaceAll("127.0.0.1:8081", first)
      .replaceAll("127.0.0.1:8082", second),
  );
  const given = args(own, directory);
  const checked = run(program, ...checks, ...given);
  expect([checked.status, checked.stderr]).toEqual([0, expect.not.stringMatching(/warn|emerg|ALERT/i)]);
  const child = spawn(program, given, { stdio: "ignore" });
  const ended = once(child, "exit");
  return {
    url: `https://127.0.0.1:${port}`,
    renew() {
      issueCertificate(directory);
      child.kill(reload);
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Writes a key and a certificate, apart for nginx and together for HAProxy. */
function issueCertificate(directory: string): void {
  const [key, certificate] = [join(directory, "tls.key"), join(directory, "tls.crt")];
  const self = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=iam.example.com", "-days", "2"];
  expect(run("openssl", ...self, "-keyout", key, "-out", certificate).status).toBe(0);
  writeFileSync(join(directory, "tls.pem"), readFileSync(key, "utf8") + readFileSync(certificate, "utf8"));
}
