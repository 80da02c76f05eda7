// Gives the tests the server that scripts/mutate.ts has started for all runs.
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";

export function setup(project: Pick<TestProject, "provide">): void {
  const provided = JSON.parse(process.env["MUTATION_SERVER"] ?? "{}") as ProvidedContext;
  for (const key of ["serverUrl", "migratedCluster", "databasePrefix", "compileCache"] as const)
    project.provide(key, provided[key]);
}
