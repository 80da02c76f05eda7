// Benchmarks `tenantry import` of a generated org into a new database. Run with `npm run bench:loading`, which takes a minute, or
// `npm run bench:loading -- --members 20000 --groups 400 --memberships 27000 --projects 400 --grants 2000 --rounds 3`. With
// `--against ../other`, another checkout of the service and its importer take turns with this one. The time on the processor for
// each thing that is created, which other load on the machine affects little, is known on Linux only.
//
// The service runs on the first core; PostgreSQL and the importer run on the second. Figures are medians of the rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./figures.ts";
import { pinToCore } from "./pin-to-core.ts";
import { processorTime } from "./processor-time.ts";
import { startPostgres, startService } from "./start-bench.ts";

const number = (text: string) => ({ type: "string", default: text }) as const;
const { values } = parseArgs({
  options: {
    members: number("100000"),
    groups: number("2000"),
    memberships: number("134000"),
    projects: number("2000"),
    grants: number("10000"),
    rounds: number("1"),
    against: { type: "string" },
  },
});
const rounds = Number(values.rounds);

/** Returns an organisation file. Groups, members and projects are paired by steps that have no common divisor with their numbers. */
function describeOrganisation(): { readonly file: string; readonly things: number } {
  const counts = { members: Number(values.members), groups: Number(values.groups), projects: Number(values.projects) };
  const members = names("member", counts.members);
  const projects = names("project", counts.projects);
  const joined = names("group", counts.groups).map((name) => ({ name, members: new Set<string>() }));
  for (let index = 0; index < Number(values.memberships); index++) {
    // A member joins another group in each turn.
    const turn = Math.floor(index / counts.members);
    joined[(index + turn * 31) % counts.groups]?.members.add(members[index % counts.members] ?? "");
  }
  // The first twentieth of the groups has every fourth of the others in it.
  const parents = Math.max(1, Math.floor(counts.groups / 20));
  const groups = joined.map(({ name, members: some }, index) => ({
    name,
    members: [...some],
    ...(index >= parents && index % 4 === 0 && { parent: `group-${index % parents}` }),
  }));
  const roles = ["read", "triage", "write", "maintain", "admin"];
  const grants = Array.from({ length: Number(values.grants) }, (_, index) => ({
    group: `group-${index % counts.groups}`,
    project: projects[(index + Math.floor(index / counts.groups) * 7) % counts.projects],
    role: roles[index % roles.length],
  }));
  const memberships = groups.reduce((sum, group) => sum + group.members.length, 0);
  const subgroups = groups.filter((group) => "parent" in group).length;
  return {
    file: JSON.stringify({ org: "large", members, groups, projects, grants }),
    things: members.length + groups.length + memberships + subgroups + projects.length + grants.length,
  };
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

interface Load {
  readonly seconds: number;
  /** The time on the processor, in seconds. */
  readonly service: number;
  readonly postgres: number;
}

async function load(checkout: string, name: string, file: string): Promise<Load> {
  const { databaseUrl, directory } = await postgres.createDatabase(name);
  const service = await startService(databaseUrl, directory, {
    checkout,
    env: { TENANTRY_MAX_MEMBERS_PER_ORG: "1000000" },
  });
  try {
    const times = () => [processorTime(service.pid), processorTime(postgres.pid)];
    const [before, startedAt] = [times(), performance.now()];
    const args = ["import", file, "--url", service.url, "--key-file", join(directory, "operator-key")];
    const importer = spawn(process.execPath, [join(checkout, "bin/tenantry.js"), ...args], { stdio: "ignore" });
    pinToCore(importer.pid ?? 0, 1);
    const [code] = (await once(importer, "exit")) as [number];
    if (code !== 0) throw new Error(`the import of ${file} ended with ${code}`);
    const seconds = (performance.now() - startedAt) / 1000;
    const [ofService = 0, ofPostgres = 0] = times().map((time, index) => (time - (before[index] ?? 0)) / 1_000_000);
    return { seconds, service: ofService, postgres: ofPostgres };
  } finally {
    await service.stop();
  }
}

pinToCore(process.pid, 1);
const postgres = await startPostgres();
const checkouts = { ...(values.against && { before: values.against }), after: join(import.meta.dirname, "..") };
try {
  const { file, things } = describeOrganisation();
  const path = join(postgres.directory, "large.json");
  await writeFile(path, file);
  const loads = new Map(Object.keys(checkouts).map((name) => [name, [] as Load[]]));
  for (let round = 0; round < rounds; round++) {
    // PostgreSQL has more to do for a later database, so each is the first in turn.
    const inTurn = round % 2 === 0 ? Object.entries(checkouts) : Object.entries(checkouts).toReversed();
    for (const [name, checkout] of inTurn) {
      loads.get(name)?.push(await load(checkout, `bench_${name}_${round}`, path));
    }
  }
  console.log(`\n${things} things, ${rounds} rounds`);
  console.log(["", "seconds", "things/s", "service s", "PostgreSQL s"].map((title) => title.padStart(14)).join(""));
  for (const [name, all] of loads) {
    const of = (key: keyof Load) => median(all.map((each) => each[key]));
    const cells = [name, of("seconds").toFixed(1), (things / of("seconds")).toFixed(0)];
    console.log(
      [...cells, of("service").toFixed(1), of("postgres").toFixed(1)].map((cell) => cell.padStart(14)).join(""),
    );
  }
} finally {
  await postgres.stop();
}
