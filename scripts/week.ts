// What happens to a service in a week, in some minutes and under load: an upgrade of one server after the other, a failover, a dump that is
// restored elsewhere, new certificates, and a full disk. Run with `npm run week`; `-- --report FILE` writes what the dashboard showed
// before and after. It needs Debian's haproxy, postgresql-15 and prometheus, and root for the small disk.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
import { waitUntil } from "./chaos/wait-until.ts";
import { verify } from "./chaos/verify.ts";
import { startProbe } from "./patroni/probe.ts";
import { type DatabaseCertificates, encryptDatabases } from "./week/database-certificates.ts";
import { type Picture, type Prometheus, startPrometheus } from "./week/prometheus.ts";
import { fillDisk, restoreCopy } from "./week/restored-copy.ts";
import { type Step, type Steps, createSteps, describeStep } from "./week/steps.ts";
import { startTlsProbe } from "./week/tls-probe.ts";

const { orgs: orgCount, report } = new Command("npm run week --")
  .description("Does to a service under load what happens in a week, and checks that no answer was wrong.")
  .option("--orgs <n>", "orgs that write and read", Number, 4)
  .option("--report <file>", "write what the dashboard showed before and after")
  .parse()
  .opts<{ orgs: number; report?: string }>();
const seed = Math.floor(Math.random() * 2 ** 31) + 1;
const findings = createFindings();
const workplace = createWorkplace();
// Also after an error that nobody has caught.
process.once("exit", () => workplace.close());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
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
    prometheus: await startPrometheus(workplace, prometheusPort, metricsPorts),
    copy: { port: copyPort, metricsPort: metricsPorts[2] ?? 0 },
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
  const load = startLoad({ url, servers: servers.all, orgs, seed, latencies: createLatencies(), findings });
  const probe = startProbe("the proxy", url, await createOwnedOrg(operator, "probed", 1), findings);
  const steps = createSteps(load, probe);
  await steps.run("nothing", () => waitUntil("there is a load", () => Promise.resolve(load.calls() > 50)));
  const before = await prometheus.look();
  await doAll(place, steps);
  const after = await prometheus.look();
  await Promise.all([load.stop(), probe.stop()]);
  for (const server of servers.all) await server.untilReady();
  const urls = servers.all.map((server) => server.url);
  const { query, primaryUrl } = databases;
  await verify({ urls, orgs, histories: load.histories, query, databaseUrl: primaryUrl(), findings });
  const writes = load.histories.flatMap((history) => history.writes);
  console.log(`${writes.filter(({ isSure }) => isSure).length} writes were acknowledged`);
  const alerts = await prometheus.alerts();
  console.log(`alerts that fired: ${alerts.join(", ") || "none"}`);
  if (report !== undefined) writeFileSync(report, formatReport(steps.done, alerts, before, after));
}

async function doAll(place: Place, steps: Steps): Promise<void> {
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
  let restored: Awaited<ReturnType<typeof restoreCopy>>;
  await steps.run("a dump, and its restore into another PostgreSQL", async () => {
    restored = await restoreCopy(workplace, databaseUrl);
  });
  await steps.run("a full disk of that PostgreSQL, beside it", async () => {
    if (restored === undefined) return;
    const settings = { TENANTRY_METRICS_PORT: String(copy.metricsPort) };
    const options = { databaseUrl: restored.postgres.url(), settings, tellMemory: false };
    const server = await startServer(workplace, "copy", copy.port, options, findings);
    await fillDisk(restored, server, servers.operatorKey, seed, findings);
  });
}

function formatReport(steps: readonly Step[], alerts: readonly string[], before: Picture, after: Picture): string {
  const lines = [...new Set([...before.keys(), ...after.keys()])].map(
    (line) => `| ${line} | ${before.get(line) ?? ""} | ${after.get(line) ?? ""} |`,
  );
  return [
    "# A week",
    "",
    ...steps.map((step) => `- ${describeStep(step)}`),
    "",
    `Alerts that fired: ${alerts.join(", ") || "none"}`,
    "",
    "| Panel | Line | Before | After |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}
