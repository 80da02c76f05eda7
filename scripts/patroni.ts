// Runs two servers with three PostgreSQL servers under Patroni and etcd, switches over, kills, suspends and abandons the primary under
// load, and checks that no answer was wrong. Run with `npm run patroni`; `-- --asynchronous` shows what is lost where commits wait for no
// standby. It needs Debian's patroni, etcd-server and postgresql-15, and takes about four minutes, or six on a busy machine.
import { Command } from "commander";
import { createFindings } from "./chaos/findings.ts";
import { createLatencies } from "./chaos/latencies.ts";
import { startLoad } from "./chaos/load.ts";
import { createOrgs, createOwnedOrg } from "./chaos/orgs.ts";
import { createWorkplace, freePorts } from "./chaos/processes.ts";
import { startServers } from "./chaos/servers.ts";
import { verify } from "./chaos/verify.ts";
import { createApi } from "../test/support/api.ts";
import { startCluster } from "./patroni/cluster.ts";
import { injectFaults } from "./patroni/faults.ts";
import { startProbe } from "./patroni/probe.ts";
import { describeMissing } from "./patroni/programs.ts";

const { asynchronous } = new Command("npm run patroni --")
  .description("Lets a primary under Patroni fail in four ways, under load, and checks what servers have answered.")
  .option("--asynchronous", "let commits wait for no standby, and see which are lost", false)
  .parse()
  .opts<{ asynchronous: boolean }>();
const missing = describeMissing();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const seed = Math.floor(Math.random() * 2 ** 31) + 1;
const findings = createFindings();
const workplace = createWorkplace();
await run();
// Connections of clients that nobody closes would keep the process.
process.exit(findings.print() ? 1 : 0);

async function run(): Promise<void> {
  console.log(`servers, databases and etcd run in ${workplace.directory}; seed ${seed}`);
  const cluster = await startCluster(workplace, !asynchronous);
  const { databaseUrl } = cluster;
  const options = { databaseUrl, settings: {}, tellMemory: false };
  const servers = await startServers(workplace, await freePorts(2), options, findings);
  const [url = ""] = servers.all.map((server) => server.url);
  const orgs = await createOrgs(url, servers.operatorKey, 8, 2);
  const operator = createApi("Connect", url, servers.operatorKey);
  const latencies = createLatencies();
  // Each server has half of the orgs.
  const loads = servers.all.map((server, index) => {
    const own = orgs.filter((_org, position) => position % servers.all.length === index);
    return startLoad({ url: server.url, servers: servers.all, orgs: own, seed, latencies, findings });
  });
  const probed = [];
  for (const { name, url: own } of servers.all)
    probed.push(startProbe(name, own, await createOwnedOrg(operator, `probed-by-${name}`, 1), findings));
  const org = await createOwnedOrg(operator, "revoked", 1);
  await injectFaults({ cluster, probes: probed, org, url, findings });
  await Promise.all([...loads, ...probed].map((each) => each.stop()));
  for (const server of servers.all) await server.untilReady();
  const urls = servers.all.map((server) => server.url);
  const shared = { urls, databaseUrl: await cluster.primaryUrl(), findings };
  const histories = loads.map((load) => load.histories);
  const ofOrg = orgs.map((_org, position) => histories[position % 2]?.[Math.floor(position / 2)]);
  await verify({ ...shared, orgs, histories: ofOrg.filter((history) => history !== undefined) });
  for (const load of loads) console.log(`${load.calls()} calls; failures:`, Object.fromEntries(load.failures));
  const writes = histories.flat().flatMap((history) => history.writes);
  const sure = writes.filter(({ isSure }) => isSure).length;
  console.log(`${sure} writes acknowledged, ${writes.length - sure} not`);
}
