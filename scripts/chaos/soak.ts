// Watches the servers under load: what they hold must not grow.
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../bench/figures.ts";
import { residentMemory } from "../../bench/resident-memory.ts";
import type { Databases } from "./databases.ts";
import type { Findings } from "./findings.ts";
import type { Server } from "./servers.ts";

const intervalMs = 30_000;

/** What is measured, and how much it may grow from the first half to the second: a share, and an amount. */
const measures = {
  /** V8 collects when it is worth it, so that single readings say little. */
  megabytes: { share: 0.15, amount: 40 },
  handles: { share: 0.1, amount: 10 },
  connections: { share: 0.1, amount: 6 },
} as const;

/**
 * How much more memory a server may use at the end of the second half than at its beginning, on the line through its readings, in
 * megabytes. Snapshots keep what was deleted for as long as it can be restored, which is some 100 bytes for each deletion.
 */
const growth = { share: 0.02, amount: 4 };

type Measure = keyof typeof measures;

type Readings = Record<Measure, number> & { readonly liveMegabytes: number };

/** Reads every 30 s. The first sixth of the time does not count: caches fill. Memory is flat in the second half. */
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
      const liveMegabytes = (await server.liveMemory()) / 1_048_576;
      const reading = { ...readProcess(server.pid()), liveMegabytes, connections };
      readings.get(server.name)?.push(reading);
      console.log(
        `${String(at / 1_000).padStart(5)} s  ${server.name}  ${reading.megabytes.toFixed(0)} MB  ${liveMegabytes.toFixed(1)} MB used  ` +
          `${reading.handles} handles  ${connections} connections of all to the database`,
      );
    }
  }
  for (const [name, all] of readings) {
    compareHalves(name, all.slice(Math.floor(all.length / 6)), findings);
    requireFlatMemory(name, all.slice(Math.floor(all.length / 2)), findings);
  }
}

function requireFlatMemory(name: string, readings: readonly Readings[], findings: Findings): void {
  const values = readings.map(({ liveMegabytes }) => liveMegabytes);
  const grown = slopeOf(values) * (values.length - 1);
  const what = `${name}: ${grown.toFixed(1)} megabytes more are used at the end of the second half than at its beginning`;
  console.log(what);
  if (grown > median(values) * growth.share + growth.amount) findings.add("memory, handles or connections grow", what);
}

/** Returns how much values grow from one to the next, on the line with the least squares. */
function slopeOf(values: readonly number[]): number {
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const centre = (values.length - 1) / 2;
  const level = mean(values);
  const rise = mean(values.map((value, index) => (index - centre) * (value - level)));
  return rise / Math.max(mean(values.map((_, index) => (index - centre) ** 2)), Number.MIN_VALUE);
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

function readProcess(pid: number): Pick<Readings, "megabytes" | "handles"> {
  return { megabytes: residentMemory(pid), handles: readdirSync(`/proc/${pid}/fd`).length };
}

async function countConnections({ query }: Databases): Promise<number> {
  const [row] = await query(
    "select count(*)::int as count from pg_stat_activity where application_name like 'tenantry%'",
  );
  return Number(row?.["count"]);
}
