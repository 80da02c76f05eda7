// Benchmarks the checks and the Get of `bench:access` over REST, and checks each about another member, in an org of 10,000 members. Run with
// `npm run bench:checks -- --against ../other`: another checkout of the service takes turns with this one, in a database of its own. Two
// processes of one checkout may differ by a tenth and more, whichever started first: a smaller difference is in a profile (`--cpu-prof`),
// not here.
//
// Each service runs in its own process on the first core; the load and PostgreSQL run on the second. Figures are medians of the rounds, of
// the time on the processor for a request, which other load on the machine affects little.
import { parseArgs } from "node:util";
import { required } from "../src/errors/required.ts";
import { type Load, loadsFor } from "./access-loads.ts";
import { fillOrgs, question, shapeOrg } from "./access-orgs.ts";
import { type StartedCheckout, printSamples, startCheckouts, takeTurns } from "./compare-checkouts.ts";
import { loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    members: { type: "string", default: "10000" },
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "1" },
    against: { type: "string" },
  },
});
const forMs = Number(values.seconds) * 1000;
const org = shapeOrg(Number(values.members));
const connections = 32;
const batchSize = 100;

let asked = 0;

const post = (key: string, path: string, body: object) => ({
  method: "POST",
  path: `/iam/v1alpha/${path}`,
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Returns what is measured on a service, by name. */
function loadsOf({ url, operatorKey: key }: StartedCheckout): ReadonlyMap<string, Load> {
  const overRest = Object.entries(loadsFor({ url, key }, org, batchSize)).filter(([name]) => name.startsWith("REST"));
  const ofMany: Load = (...load) => loadHttp(url, () => post(key, "access:check", question(org, asked++)), ...load);
  return new Map([...overRest, ["REST Check of another member", ofMany]]);
}

pinToCore(process.pid, 1);
const postgres = await startPostgres();
const { started, stop } = await startCheckouts(postgres, values.against, {});
try {
  for (const { url, operatorKey, databaseUrl } of started) {
    const { method, headers, body } = post(operatorKey, "orgs", { name: org.name });
    await fetch(`${url}/iam/v1alpha/orgs`, { method, headers, body });
    await fillOrgs(databaseUrl, [org]);
  }
  const targets = started.map((service) => ({ pid: service.pid, loads: loadsOf(service) }));
  const cases = [...(targets[0]?.loads.keys() ?? [])].map((name) => ({ name }));
  const measure = async ({ name }: (typeof cases)[number], { pid, loads }: (typeof targets)[number]) => {
    const before = processorTime(pid);
    let count = 0;
    const perSecond = await required(loads.get(name))(connections, forMs, () => void count++);
    return { microseconds: (processorTime(pid) - before) / count, perSecond };
  };
  const samples = await takeTurns(cases, targets, Number(values.rounds), measure);
  const columns = [
    { title: "µs", key: "microseconds", digits: 1 },
    { title: "requests/s", key: "perSecond", digits: 0 },
  ] as const;
  printSamples(
    samples,
    targets,
    columns,
    `${org.members} members, ${connections} connections, ${values.rounds} rounds`,
  );
} finally {
  await stop();
  await postgres.stop();
}
