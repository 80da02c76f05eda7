// Watches the servers under load: what they hold must not grow.
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../bench/figures.ts";
import type { Databases } from "./databases.ts";
import type { Findings } from "./findings.ts";
import type { Server } from "./servers.ts";

const intervalMs = 30_000;

/** What is measured, and how much more the second half may have than the first: a share, and an amount. */
const measures = {
  /** The heap of V8 grows until it is worth collecting. */
  megabytes: { share: 0.15, amount: 40 },
  handles: { share: 0.1, amount: 10 },
  connections: { share: 0.1, amount: 6 },
} as const;

type Measure = keyof typeof measures;

type Readings = Record<Measure, number>;

/** Reads every 30 s. The first sixth of the time does not count: caches fill. */
export async function soak(
  seconds: number,
  servers: readonly Server[],
  databases: Databases,
  findings: Findings,
): Promise<void> {
  const readings = new Map<string, Readings[]>(servers.map(({ name }) => [name, []]));
  const startedAt = Date.now();
  for (let at = intervalMs; at <= seconds * 1_000; at += intervalMs) {
    await sleep(Math.max(0, startedAt + at - Date.now()));
    const connections = await countConnections(databases);
    for (const server of servers) {
      const reading = { ...readProcess(server.pid()), connections };
      readings.get(server.name)?.push(reading);
      console.log(
        `${String(at / 1_000).padStart(5)} s  ${server.name}  ${reading.megabytes.toFixed(0)} MB  ` +
          `${reading.handles} handles  ${connections} connections of all to the database`,
      );
    }
  }
  for (const [name, all] of readings) compareHalves(name, all.slice(Math.floor(all.length / 6)), findings);
}

function compareHalves(name: string, readings: readonly Readings[], findings: Findings): void {
  const middle = Math.floor(readings.length / 2);
  for (const [measure, { share, amount }] of Object.entries(measures) as [
    Measure,
    { share: number; amount: number },
  ][]) {
    const of = (half: readonly Readings[]): number => median(half.map((reading) => reading[measure]));
    const [first, second] = [of(readings.slice(0, middle)), of(readings.slice(middle))];
    const what = `${name}: ${first.toFixed(0)} ${measure} in the first half, ${second.toFixed(0)} in the second`;
    console.log(what);
    if (second > first * (1 + share) + amount) findings.add("memory, handles or connections grow", what);
  }
}

function readProcess(pid: number): Omit<Readings, "connections"> {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { megabytes: Number(kilobytes) / 1_024, handles: readdirSync(`/proc/${pid}/fd`).length };
}

async function countConnections({ query }: Databases): Promise<number> {
  const [row] = await query(
    "select count(*)::int as count from pg_stat_activity where application_name like 'tenantry%'",
  );
  return Number(row?.["count"]);
}
