import type { BatchOptions } from "../src/database/batch.ts";
import { openDatabase } from "../src/database/database.ts";
import { memberDefinition } from "../src/iam/members/definition.ts";
import { levelsOf } from "../src/standard-methods/definition/definition.ts";
import { type MemberRow, selectMembers } from "../src/iam/members/store.ts";
import { patterns } from "../src/paths/patterns.ts";
import { parseResourcePath } from "../src/paths/parse-path.ts";
import { createPathLookup } from "../src/database/path-lookup.ts";
import { type Figures, median } from "./figures.ts";

const readConnections = 4;

/**
 * Measures lookups of members by path with `concurrency` callers, batched and with a statement each, over the same four
 * connections. This process contains the load and shares its core with PostgreSQL, so only the ratio is meaningful.
 */
export async function measureBatching(
  databaseUrl: string,
  path: string,
  concurrency: number,
  rounds: number,
  forMs: number,
): Promise<Figures[]> {
  const database = openDatabase({
    connection: { connectionString: databaseUrl },
    maxReadConnections: readConnections,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  const levels = levelsOf(memberDefinition, memberDefinition.places[0]);
  const references = parseResourcePath(patterns.Member, path, "path");

  const measure = async (name: string, options: BatchOptions): Promise<number> => {
    const lookup = createPathLookup<MemberRow>(
      database,
      { name, levels, rows: selectMembers(database.reads) },
      options,
    );
    let found = 0;
    const startedAt = performance.now();
    const worker = async (): Promise<void> => {
      while (performance.now() < startedAt + forMs) {
        if ((await lookup(references)) === undefined) throw new Error(`there is no ${path}`);
        found++;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return found / ((performance.now() - startedAt) / 1000);
  };

  const single: number[] = [];
  const batched: number[] = [];
  for (let round = 0; round < rounds; round++) {
    single.push(await measure("bench_single", { maxKeys: 1, maxStatements: readConnections }));
    batched.push(await measure("bench_batched", { maxKeys: 256, maxStatements: readConnections }));
  }
  await database.close();
  const ratio = median(batched) / median(single);
  return [
    { name: "a statement for each", rate: median(single), ratio: 1, spread: single },
    { name: "batched", rate: median(batched), ratio, spread: batched },
  ];
}
