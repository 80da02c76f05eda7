// Runs tests against mutants like Stryker's runner for Vitest, with three differences. The process of the tests is kept. What runs
// in a hook, such as the start of a server, counts as run by all tests of its file, not as run while modules are loaded. And a
// mutant is run by the first tests that reach it, for some seconds at most, so the whole suite may kill one that survives: of
// tests that are the same over several protocols one is run, and none that takes long.
import {
  PluginKind,
  declareFactoryPlugin,
  tokens,
  commonTokens,
  type Injector,
  type PluginContext,
} from "@stryker-mutator/api/plugin";
import type { CoverageData, MutantCoverage, StrykerOptions } from "@stryker-mutator/api/core";
import {
  type CompleteDryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
} from "@stryker-mutator/api/test-runner";
import { strykerPlugins as vitestPlugins } from "@stryker-mutator/vitest-runner";
import { createKeptPool } from "./kept-worker.ts";
import { idOfHooks } from "./id-of-hooks.ts";

/** How long a test may take, in milliseconds, and how long all tests of a mutant together. */
const [longMs, allMs] = [2_500, 1_000 * Number(process.env["MUTATE_SECONDS"] ?? 10)];

createRunner.inject = tokens(commonTokens.injector, commonTokens.options);
function createRunner(injector: Injector<PluginContext>, options: StrykerOptions): TestRunner {
  const pool = createKeptPool(({ project }) => {
    const { mode, mutantActivation } = project.getProvidedContext() as unknown as Record<string, unknown>;
    return mode === "mutant" && mutantActivation === "static";
  });
  const [vitestPlugin] = vitestPlugins;
  if (vitestPlugin === undefined) throw new Error("Stryker's package for Vitest has no runner");
  const withPool: StrykerOptions = { ...options, vitest: { ...(options["vitest"] as object), pool } };
  const runner: TestRunner = injector.provideValue("options", withPool).injectFunction(vitestPlugin.factory);
  let testIds: string[] = [];

  const mutantRun = async (run: MutantRunOptions): Promise<MutantRunResult> => {
    // Stryker asks for all tests of a mutant that is reached while modules are loaded.
    const filtered = { ...run, testFilter: run.testFilter ?? testIds };
    const result = await runner.mutantRun(filtered);
    if (result.status !== MutantRunStatus.Error) return result;
    // A test file failed outside of its tests, perhaps because of what an earlier mutant left behind.
    await pool.drop();
    const again = await runner.mutantRun(filtered);
    if (again.status !== MutantRunStatus.Error) return again;
    const { errorMessage: failureMessage } = again;
    return { status: MutantRunStatus.Killed, killedBy: filtered.testFilter.slice(0, 1), failureMessage, nrOfTests: 1 };
  };

  return {
    capabilities: () => runner.capabilities(),
    init: () => runner.init?.() ?? Promise.resolve(),
    async dryRun(run) {
      const result = await runner.dryRun(run);
      if (result.status !== DryRunStatus.Complete) return result;
      const chosen = chooseTests(result);
      let spent = 0;
      testIds = chosen.tests.filter(({ timeSpentMs }) => (spent += timeSpentMs) < allMs).map(({ id }) => id);
      return chosen;
    },
    mutantRun,
    async dispose() {
      await pool.drop();
      await runner.dispose?.();
    },
  };
}

/** Leaves out long tests, and what runs over another protocol too. */
function chooseTests({ tests, mutantCoverage, ...rest }: CompleteDryRunResult): CompleteDryRunResult {
  const ids = new Set(tests.map(({ id }) => id));
  const isOther = (id: string): boolean => {
    const sameOverGrpc = id.replace(/over (?:REST|Connect)/, "over gRPC");
    return sameOverGrpc !== id && ids.has(sameOverGrpc);
  };
  const chosen = tests.filter(({ id, timeSpentMs }) => timeSpentMs <= longMs && !isOther(id));
  if (mutantCoverage === undefined) return { ...rest, tests: chosen };
  return { ...rest, tests: chosen, mutantCoverage: boundTime(chosen, countHooks(chosen, mutantCoverage)) };
}

/** Leaves out the tests of a mutant that come when those before them have taken all of the time. */
function boundTime(tests: CompleteDryRunResult["tests"], { perTest, ...rest }: MutantCoverage): MutantCoverage {
  const spent = new Map<string, number>();
  const bounded = tests.map(({ id, timeSpentMs }): [string, CoverageData] => {
    const within = Object.entries(perTest[id] ?? {}).filter(([mutant]) => {
      const before = spent.get(mutant) ?? 0;
      spent.set(mutant, before + timeSpentMs);
      return before < allMs;
    });
    return [id, Object.fromEntries(within)];
  });
  return { ...rest, perTest: Object.fromEntries(bounded) };
}

function countHooks(tests: CompleteDryRunResult["tests"], coverage: MutantCoverage): MutantCoverage {
  const perTest = tests.map(({ id }): [string, CoverageData] => {
    const [file = ""] = id.split("#");
    return [id, sum(coverage.perTest[id] ?? {}, coverage.perTest[idOfHooks(file)] ?? {})];
  });
  return { ...coverage, perTest: Object.fromEntries(perTest) };
}

function sum(left: CoverageData, right: CoverageData): CoverageData {
  const total = { ...left };
  for (const [mutant, hits] of Object.entries(right)) total[mutant] = (total[mutant] ?? 0) + hits;
  return total;
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "kept-vitest", createRunner)];
