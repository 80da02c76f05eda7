// What benchmarks share that can compare this checkout of the service with another one (`--against ../other`): both take turns, each
// with a database of its own.
import { join } from "node:path";
import { median } from "./figures.ts";
import { type startPostgres, startService } from "./start-bench.ts";

/** A service that was started from a checkout. */
export interface StartedCheckout {
  /** `before` for the other checkout, `after` for this one. */
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly operatorKey: string;
}

/** What was measured in each round, by case and target. */
export type Samples<Case, Target, Sample> = ReadonlyMap<Case, ReadonlyMap<Target, Sample[]>>;

/**
 * Starts the service from this checkout, and before it from another one, if any.
 *
 * @param against the root of the other one.
 */
export async function startCheckouts(
  postgres: Awaited<ReturnType<typeof startPostgres>>,
  against: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly started: readonly StartedCheckout[]; readonly stop: () => Promise<void> }> {
  const services: Awaited<ReturnType<typeof startService>>[] = [];
  const stop = async (): Promise<void> => {
    for (const service of services.splice(0)) await service.stop();
  };
  try {
    const started: StartedCheckout[] = [];
    const checkouts = { ...(against && { before: against }), after: join(import.meta.dirname, "..") };
    for (const [name, checkout] of Object.entries(checkouts)) {
      const { databaseUrl, directory } = await postgres.createDatabase(`bench_${name}`);
      const service = await startService(databaseUrl, directory, { checkout, env });
      services.push(service);
      const { url, pid } = service;
      started.push({ name, url, pid, databaseUrl, directory, operatorKey: await service.readOperatorKey() });
    }
    return { started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs all cases on all targets in each round, after one round that does not count. */
export async function takeTurns<Case, Target, Sample>(
  cases: readonly Case[],
  targets: readonly Target[],
  rounds: number,
  sample: (of: Case, target: Target) => Promise<Sample>,
): Promise<Samples<Case, Target, Sample>> {
  const samples = new Map(cases.map((each) => [each, new Map(targets.map((target) => [target, [] as Sample[]]))]));
  for (let round = -1; round < rounds; round++) {
    for (const [of, ofTargets] of samples) {
      // The order alternates, so that neither is always first.
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        const taken = await sample(of, target);
        if (round >= 0) ofTargets.get(target)?.push(taken);
      }
    }
  }
  return samples;
}

/** A figure that is printed. */
export interface Column<Sample> {
  readonly title: string;
  readonly key: keyof Sample;
  readonly digits: number;
}

/** Prints the medians of all rounds, and with two targets the ratio of the first column, after to before. */
export function printSamples<
  Case extends { readonly name: string },
  Target,
  Sample extends Record<keyof Sample, number>,
>(
  samples: Samples<Case, Target, Sample>,
  targets: readonly Target[],
  columns: readonly [Column<Sample>, ...Column<Sample>[]],
  heading: string,
): void {
  const width = 8 + Math.max(...Array.from(samples.keys(), ({ name }) => name.length));
  const line = (name: string, cells: readonly string[]) =>
    console.log(`${name.padEnd(width)}${cells.map((cell) => cell.padStart(11)).join("")}`);
  const hasTwo = targets.length > 1;
  console.log(`\n${heading}${hasTwo ? "; each column: before, after" : ""}`);
  line("", [...columns.flatMap(({ title }) => targets.map(() => title)), ...(hasTwo ? ["ratio"] : [])]);
  for (const [{ name }, ofTargets] of samples) {
    const of = (target: Target, key: keyof Sample) => median((ofTargets.get(target) ?? []).map((each) => each[key]));
    const cells = columns.flatMap(({ key, digits }) => targets.map((target) => of(target, key).toFixed(digits)));
    const [before, after] = targets.map((target) => of(target, columns[0].key));
    line(name, [...cells, ...(before && after ? [(after / before).toFixed(2)] : [])]);
  }
}
