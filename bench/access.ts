// Benchmarks access checks in orgs of three sizes: over REST, Connect and gRPC, one by one and in batches of 100, compared with a
// Get of a member in the same run; decisions in process; memory per member; and the time until a change is visible. Run with
// `npm run bench:access` or `npm run bench:access -- --seconds 3 --rounds 5`. Takes a few minutes, mostly for inserting the
// members with SQL. For the engine alone: `node bench/access-engine.ts`. The load over gRPC is h2load, of Debian's package
// nghttp2-client.
//
// The service runs on the first core; the load and PostgreSQL run on the second. Each round runs all cases in turn, so that
// other load on the machine affects all of them. Figures are medians of the rounds. Each member is in two groups. There is a
// group for every 20 members, nested by tens, and a project for every ten, where one group is bound. The caller is in another
// org, so each call reads the caller's key and the head of the org that it asks about.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { registry } from "../src/resource-registry.ts";
import { advanceSnapshot } from "../src/access/snapshots/advance-snapshot.ts";
import { compileCondition } from "../src/access/conditions/compile-condition.ts";
import { decide } from "../src/access/engine/decisions/decide.ts";
import type { OrgSnapshot } from "../src/access/engine/org-snapshot.ts";
import { readSnapshot } from "../src/access/snapshots/read-snapshot.ts";
import { type Database, openDatabase } from "../src/database/database.ts";
import { createPredefinedRoles } from "../src/iam/roles/predefined-roles.ts";
import { createMethodTable, permissionsOfMethods } from "../src/rpc/method-table.ts";
import { services } from "../src/rpc/services.ts";
import { loadsFor } from "./access-loads.ts";
import { type Org, fillOrgs, permission, question, shapeOrg } from "./access-orgs.ts";
import { median, quantile } from "./figures.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startBench } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    members: { type: "string", default: "1000,100000,1000000" },
    seconds: { type: "string", default: "1.5" },
    rounds: { type: "string", default: "3" },
    // Enough to keep the server's core busy while requests wait for PostgreSQL.
    connections: { type: "string", default: "128" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const connections = Number(values.connections);

/** Few enough that requests rarely wait for each other. */
const fewConnections = 8;
const batchSize = 100;
const changeCount = 50;

const orgs = values.members.split(",").map((members) => shapeOrg(Number(members)));

pinToCore(process.pid, 1);
process.env["TENANTRY_ACCESS_MEMORY_MB"] = "1024";
const bench = await startBench();
const database = openDatabase({
  connection: { connectionString: bench.databaseUrl },
  maxReadConnections: 1,
  maxWriteConnections: 1,
  onConnectionError: () => {},
});
try {
  for (const org of orgs) await call("POST", "orgs", { name: org.name });
  await fillOrgs(bench.databaseUrl, orgs);
  await warmUp();
  await measureRates();
  await measureLatencies();
  const snapshots = await measureSnapshots(database);
  await measureChanges(database, snapshots);
} finally {
  await database.close();
  await bench.stop();
}

async function call(method: string, path: string, body?: object): Promise<{ allowed?: boolean }> {
  const headers = { authorization: `Bearer ${bench.key}`, "content-type": "application/json" };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${bench.url}/iam/v1alpha/${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text === "" ? "{}" : text) as { allowed?: boolean };
}

/** The first question makes the service read the org. */
async function warmUp(): Promise<void> {
  for (const org of orgs) {
    const startedAt = performance.now();
    // Reading continues after the call that started it has timed out.
    while (!(await isAnswered(() => call("POST", "access:check", question(org, 0))))) await sleep(1000);
    console.log(`first check of ${org.members} members in ${since(startedAt)} ms`);
    let allowed = 0;
    for (let number = 0; number < 200; number++) {
      const answer = await call("POST", "access:check", question(org, number));
      if (answer.allowed) allowed++;
    }
    if (allowed === 0 || allowed === 200) throw new Error(`${allowed} of 200 checks are allowed`);
  }
}

async function isAnswered(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes("DEADLINE_EXCEEDED")) return false;
    throw error;
  }
}

function since(startedAt: number): string {
  return (performance.now() - startedAt).toFixed(0);
}

async function measureRates(): Promise<void> {
  const cases = orgs.map((org) => Object.entries(loadsFor(bench, org, batchSize)));
  const samples = cases.map(() => new Map<string, number[]>());
  for (let round = -1; round < rounds; round++) {
    for (const [index, loads] of cases.entries()) {
      for (const [name, load] of loads) {
        const rate = await load(connections, round < 0 ? 500 : milliseconds);
        const taken = samples[index]?.get(name) ?? [];
        if (round >= 0) samples[index]?.set(name, [...taken, rate]);
      }
    }
  }
  const rateOf = (index: number, name: string): number => median(samples[index]?.get(name) ?? []);
  header(`requests a second, ${connections} connections, ${rounds} rounds of ${values.seconds} s`);
  for (const name of samples[0]?.keys() ?? []) line(name, (index) => rateOf(index, name).toFixed(0));
  for (const lane of ["REST", "Connect", "gRPC"]) {
    const ratio = (index: number): number => rateOf(index, `${lane} Check`) / rateOf(index, `${lane} Get`);
    line(`${lane}: a Check's rate of a Get's`, (index) => ratio(index).toFixed(2));
    const checks = (index: number): number => rateOf(index, `${lane} Check of ${batchSize}`) * batchSize;
    line(`${lane}: questions a second in batches`, (index) => checks(index).toFixed(0));
  }
}

async function measureLatencies(): Promise<void> {
  header(`milliseconds, ${fewConnections} connections: the median, and 99 of 100`);
  const measured: ReadonlyMap<string, string>[] = [];
  for (const org of orgs) {
    const found = new Map<string, string>();
    for (const [name, load] of Object.entries(loadsFor(bench, org, batchSize))) {
      const taken: number[] = [];
      await load(fewConnections, milliseconds, (ms) => taken.push(ms));
      found.set(name, `${quantile(taken, 0.5).toFixed(2)} ${quantile(taken, 0.99).toFixed(2)}`);
    }
    measured.push(found);
  }
  for (const name of measured[0]?.keys() ?? []) line(name, (index) => measured[index]?.get(name) ?? "");
}

async function measureSnapshots(db: Database): Promise<OrgSnapshot[]> {
  const roles = createPredefinedRoles(permissionsOfMethods(createMethodTable(services)), registry.definitions);
  const options = {
    predefinedRoles: Object.fromEntries(roles.map((role) => [role.name, role])),
    compileCondition: (expression: string) => compileCondition(expression) as (context: unknown) => unknown,
  };
  const measured: { snapshot: OrgSnapshot; readIn: string; bytes: number; microseconds: number }[] = [];
  for (const org of orgs) {
    const { id } = await db.reads
      .selectFrom("orgs")
      .select("id")
      .where("name", "=", org.name)
      .executeTakeFirstOrThrow();
    const before = memory();
    const startedAt = performance.now();
    const snapshot = await readSnapshot(db, id, options);
    if (snapshot === undefined) throw new Error(`there is no ${org.name}`);
    measured.push({
      snapshot,
      readIn: since(startedAt),
      bytes: memory() - before,
      microseconds: timeDecisions(snapshot, org),
    });
  }
  header("in process");
  line("decisions a second", (index) => (1e6 / (measured[index]?.microseconds ?? 0)).toFixed(0));
  line("a decision, µs", (index) => (measured[index]?.microseconds ?? 0).toFixed(2));
  line("read from the database, ms", (index) => measured[index]?.readIn ?? "");
  line("bytes a member, measured", (index) => perMember(index, measured[index]?.bytes ?? 0));
  line("bytes a member, as the snapshot says", (index) => perMember(index, measured[index]?.snapshot.bytes ?? 0));
  return measured.map(({ snapshot }) => snapshot);
}

/**
 * Returns microseconds from the ids of a member and a project to the decision. Questions are created just before they are
 * asked.
 */
function timeDecisions(snapshot: OrgSnapshot, org: Org): number {
  const { members, projects } = snapshot;
  const samples: number[] = [];
  for (let batch = 0; batch < 2000; batch++) {
    const questions = Array.from({ length: 100 }, (_, index) => {
      const number = batch * 100 + index;
      const [member, project] = [(number * 7919) % org.members, (number * 31) % org.projects];
      return {
        subject: { kind: "member", id: members.idOf(members.find({ by: "name", value: `member-${member}` })) } as const,
        permission,
        resource: {
          kind: "project",
          customerId: snapshot.org.customerId,
          orgId: snapshot.org.id,
          projectId: projects.idOf(projects.find({ by: "name", value: `project-${project}` })),
        } as const,
        now: Date.now(),
        conditionContext: undefined,
        counted: "all" as const,
      };
    });
    const startedAt = performance.now();
    for (const asked of questions) decide(snapshot, asked);
    samples.push(((performance.now() - startedAt) * 1000) / questions.length);
  }
  return median(samples);
}

/**
 * Creates and deletes a binding in turn. After each change asks the same question twice; only the first has a change to read.
 */
async function measureChanges(db: Database, snapshots: readonly OrgSnapshot[]): Promise<void> {
  const measured: Record<"write" | "first" | "second" | "advance", number[]>[] = [];
  for (const [index, org] of orgs.entries()) {
    const snapshot = snapshots[index];
    if (snapshot === undefined) break;
    const taken: (typeof measured)[number] = { write: [], first: [], second: [], advance: [] };
    const timed = async (samples: number[], run: () => Promise<unknown>): Promise<void> => {
      const startedAt = performance.now();
      await run();
      samples.push(performance.now() - startedAt);
    };
    const asked = { ...question(org, 1), resource_path: `/orgs/${org.name}` };
    const binding = { name: "changing", subject_path: asked.subject_path, role_path: "/roles/admin" };
    for (let number = 0; number < changeCount; number++) {
      const isGrant = number % 2 === 0;
      const path = `orgs/${org.name}/roleBindings`;
      await timed(taken.write, () =>
        isGrant ? call("POST", path, binding) : call("DELETE", `${path}/${binding.name}`),
      );
      await timed(taken.first, async () => {
        const { allowed } = await call("POST", "access:check", asked);
        if (allowed !== isGrant) throw new Error("a change was not seen");
      });
      await timed(taken.second, () => call("POST", "access:check", asked));
      await timed(taken.advance, () => advanceSnapshot(db, snapshot));
    }
    measured.push(taken);
  }
  header(`milliseconds, ${changeCount} changes one after the other: the median, and the longest`);
  const row = (name: string, key: keyof (typeof measured)[number]): void =>
    line(name, (index) => {
      const samples = measured[index]?.[key] ?? [];
      return `${median(samples).toFixed(2)} ${Math.max(...samples).toFixed(2)}`;
    });
  row("the write", "write");
  row("the first check after it, which sees it", "first");
  row("a check with nothing new", "second");
  row("reading and applying it, in process", "advance");
}

function memory(): number {
  globalThis.gc?.();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return globalThis.gc === undefined ? arrayBuffers : arrayBuffers + heapUsed;
}

function perMember(index: number, bytes: number): string {
  return (bytes / (orgs[index]?.members ?? 1)).toFixed(0);
}

function header(title: string): void {
  console.log(`\n${title}`);
  line("members", (index) => (orgs[index]?.members ?? 0).toLocaleString("en"));
}

function line(name: string, cell: (index: number) => string): void {
  console.log(`${name.padEnd(42)}${orgs.map((_, index) => cell(index).padStart(16)).join("")}`);
}
