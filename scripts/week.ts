// What happens to a service in a week, in some minutes and under load: an upgrade of one server after the other, a failover, a dump that is
// restored elsewhere, new certificates, a full disk, and a month that passes. Run with `npm run week`; `-- --help` lists the options. It
// needs Debian's haproxy, postgresql-15, prometheus and faketime, and root for the small disk.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { createApi } from "../test/support/api.ts";
import { type Authority, createAuthority } from "../test/support/certificates.ts";
import { commitBefore, extractVersionBefore, hasVersionBefore } from "../test/support/version-before.ts";
import { type Databases, startDatabases } from "./chaos/databases.ts";
import { createFindings } from "./chaos/findings.ts";
import { type Proxy, startProxy } from "./chaos/haproxy.ts";
import { createLatencies } from "./chaos/latencies.ts";
import { startLoad } from "./chaos/load.ts";
import { createOrgs, createOwnedOrg } from "./chaos/orgs.ts";
import { createWorkplace, freePorts } from "./chaos/processes.ts";
import { type Servers, root, startServer, startServers } from "./chaos/servers.ts";
import { verify } from "./chaos/verify.ts";
import { waitUntil } from "./chaos/wait-until.ts";
import { startProbe } from "./patroni/probe.ts";
import { setClocksAhead } from "./week/clocks-ahead.ts";
import { type DatabaseCertificates, encryptDatabases } from "./week/database-certificates.ts";
import { addLogLines } from "./week/log-lines.ts";
import { type Prometheus, startPrometheus } from "./week/prometheus.ts";
import { formatReport } from "./week/report.ts";
import { type RestoredCopy, fillDisk, restoreCopy } from "./week/restored-copy.ts";
import { type Steps, createSteps } from "./week/steps.ts";
import { startTlsProbe } from "./week/tls-probe.ts";

const {
  orgs: orgCount,
  logLines,
  report,
} = new Command("npm run week --")
  .description("Does to a service under load what happens in a week, and checks that no answer was wrong.")
  .option("--orgs <n>", "orgs that write and read", Number, 4)
  .option("--log-lines <n>", "entries that the log has before", Number, 10_000)
  .option("--report <file>", "write what each step did, and what the dashboard showed before and after")
  .parse()
  .opts<{ orgs: number; logLines: number; report?: string }>();
/** Longer than the intervals of the dashboard's rates. */
const quietMs = 20_000;
const seed = Math.floor(Math.random() * 2 ** 31) + 1;
const findings = createFindings();
/** Of each entry of the log, in the primary, the standby, their journals and the dump. */
const bytesOfLine = 4_000;
const workplace = createWorkplace(logLines * bytesOfLine);
await run();
// Connections of clients that nobody closes would keep the process.
process.exit(findings.print() ? 1 : 0);

interface Place {
  readonly url: string;
  readonly tlsUrl: string;
  readonly databaseUrl: string;
  readonly proxy: Proxy;
  readonly databases: Databases;
  readonly certificates: DatabaseCertificates;
  readonly authorities: readonly [Authority, Authority];
  /** Lets the proxy have a certificate of an authority. */
  readonly issueForProxy: (authority: Authority) => void;
  readonly servers: Servers;
  readonly prometheus: Prometheus;
  /** Of the restored copy. */
  readonly copy: { readonly port: number; readonly metricsPort: number };
}

async function startPlace(): Promise<Place> {
  const { directory } = workplace;
  const ports = await freePorts(12);
  const [api = 0, tls = 0, database = 0, a = 0, b = 0, first = 0, second = 0] = ports;
  const [copyPort = 0, prometheusPort = 0, ...metricsPorts] = ports.slice(7);
  const [server0 = 0, server1 = 0, copy = 0] = metricsPorts;
  const folder = (name: string): string => {
    mkdirSync(join(directory, name), { mode: 0o700 });
    return join(directory, name);
  };
  const keys = folder("authorities");
  const authorities = [createAuthority(keys, "before"), createAuthority(keys, "after")] as const;
  const ofProxy = folder("proxy");
  const file = join(ofProxy, "tls.pem");
  const issueForProxy = (authority: Authority): void => writeFileSync(file, authority.issue(ofProxy).text);
  issueForProxy(authorities[0]);
  const listening = {
    api,
    database,
    servers: [first, second],
    databases: { a, b },
    checkSeconds: 10,
    // A server that is replaced answers the calls that it has.
    endsCalls: false,
    tls: { port: tls, file },
  };
  const proxy = await startProxy(workplace, listening);
  const databases = await startDatabases(workplace, { a, b }, proxy);
  const certificates = await encryptDatabases(workplace, { a, b }, authorities[0]);
  const databaseUrl = `postgres://postgres@127.0.0.1:${database}/tenantry?${certificates.parameters}`;
  const tree = hasVersionBefore ? folder("version-before") : root;
  if (hasVersionBefore) extractVersionBefore(tree);
  else console.warn(`servers are replaced by those of the same version: there is no commit ${commitBefore} here`);
  const metricsOf = (index: number) => ({ TENANTRY_METRICS_PORT: String(metricsPorts[index]) });
  // Longer than HAProxy needs to see that a server is being stopped.
  const settings = { TENANTRY_SHUTDOWN_DELAY_MS: "4000" };
  const options = { databaseUrl, settings, settingsOf: metricsOf, tellMemory: false, tree };
  const servers = await startServers(workplace, [first, second], options, findings);
  const url = `http://127.0.0.1:${api}`;
  await waitUntil("HAProxy has a server", async () => (await fetch(`${url}/readyz`)).ok);
  return {
    url,
    tlsUrl: `https://127.0.0.1:${tls}`,
    databaseUrl,
    proxy,
    databases,
    certificates,
    authorities,
    issueForProxy,
    servers,
    prometheus: await startPrometheus(workplace, prometheusPort, { server0, server1 }),
    copy: { port: copyPort, metricsPort: copy },
  };
}

async function run(): Promise<void> {
  const place = await startPlace();
  const { url, servers, databases, prometheus } = place;
  console.log(`servers, databases and HAProxy run in ${workplace.directory}; seed ${seed}`);
  // Not through the proxy, which ends calls of a server that a busy machine keeps from answering a check.
  const direct = servers.all[0]?.url ?? "";
  const orgs = await createOrgs(direct, servers.operatorKey, orgCount, 2);
  const operator = createApi("Connect", direct, servers.operatorKey);
  await addLogLines(direct, servers.operatorKey, databases.primaryUrl(), logLines);
  // What callers see is what comes through the proxy.
  const load = startLoad({ url, servers: [], orgs, seed, latencies: createLatencies(), findings });
  const probe = startProbe("the proxy", url, await createOwnedOrg(operator, "probed", 1), findings);
  const steps = createSteps(load, probe);
  await steps.run("nothing", () => sleep(quietMs));
  const before = await prometheus.look();
  const verifyCopy = await doAll(place, steps);
  const after = await prometheus.look();
  await Promise.all([load.stop(), probe.stop()]);
  for (const server of servers.all) await server.untilReady();
  const urls = servers.all.map((server) => server.url);
  await verify({ urls, orgs, histories: load.histories, databaseUrl: databases.primaryUrl(), findings });
  await verifyCopy();
  for (const line of servers.linesWith('"reason":"INTERNAL"').slice(0, 5)) console.log(line);
  const writes = load.histories.flatMap((history) => history.writes);
  const acknowledged = writes.filter(({ isSure }) => isSure).length;
  const alerts = await prometheus.alerts();
  console.log(`${acknowledged} writes were acknowledged; alerts that fired: ${alerts.join(", ") || "none"}`);
  if (report !== undefined)
    writeFileSync(report, formatReport({ steps: steps.done, acknowledged, alerts, before, after }));
}

/** Returns what checks the restored copy in the end. */
async function doAll(place: Place, steps: Steps): Promise<() => Promise<void>> {
  const { servers, databases, certificates, proxy, databaseUrl, copy } = place;
  await steps.run("an upgrade of one server after the other", async () => {
    for (const server of servers.all) {
      await server.replace(root);
      await server.untilReady();
    }
  });
  await steps.run("a failover of the database", async () => {
    await databases.failOver(0);
    await databases.untilReplicated();
  });
  await steps.run("new certificates of another authority, for the proxy and both databases", async () => {
    const [former, next] = place.authorities;
    const tls = startTlsProbe(place.tlsUrl, former.certificate + next.certificate, findings);
    await waitUntil("a client has the former one", () => Promise.resolve((tls.issuers.get("before") ?? 0) > 10));
    place.issueForProxy(next);
    await proxy.reloadCertificate();
    await certificates.replace(former, next);
    await waitUntil("a client has the new one", () => Promise.resolve((tls.issuers.get("after") ?? 0) > 10));
    await tls.stop();
    console.log("connections to the proxy by the issuer of its certificate:", Object.fromEntries(tls.issuers));
  });
  let restored: RestoredCopy | undefined;
  await steps.run("a dump, and its restore into another PostgreSQL", async () => {
    restored = await restoreCopy(workplace, databaseUrl, logLines);
  });
  if (restored === undefined) return async () => {};
  const settings = { TENANTRY_METRICS_PORT: String(copy.metricsPort) };
  const options = { databaseUrl: restored.postgres.url(), settings, tellMemory: false };
  const server = await startServer(workplace, "copy", copy.port, options, findings);
  const { operatorKey } = servers;
  const copied = restored;
  await place.prometheus.scrape("copy", copy.metricsPort);
  let verifyCopy = async (): Promise<void> => {};
  await steps.run("a full disk of that PostgreSQL, beside it", async () => {
    verifyCopy = await fillDisk(copied, server, operatorKey, seed, findings);
  });
  const metricsUrl = `http://127.0.0.1:${copy.metricsPort}/metrics`;
  await steps.run("a month that passes for that PostgreSQL, beside it", () =>
    setClocksAhead(copied.postgres, server, operatorKey, metricsUrl, findings),
  );
  return verifyCopy;
}
