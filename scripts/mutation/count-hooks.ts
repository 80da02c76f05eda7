// Runs before each test file. In Stryker's first run, which finds what each test runs, it gives what hooks run to a test of its own.
import { beforeAll, inject } from "vitest";
import { idOfHooks } from "./id-of-hooks.ts";

interface Stryker {
  /** The test that runs; undefined while modules are loaded. */
  currentTestId?: string | undefined;
}

const provided = inject as (key: string) => string;

if (provided("mode") === "dry-run") {
  const stryker = (globalThis as unknown as Record<string, Stryker>)[provided("globalNamespace")] ?? {};
  let test: string | undefined;
  let hooks: string | undefined;
  Object.defineProperty(stryker, "currentTestId", {
    configurable: true,
    get: () => test ?? hooks,
    set(id: string | undefined) {
      test = id;
    },
  });
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads what a hook wants from its parameters
  beforeAll(({}, { file }) => {
    hooks = idOfHooks(file.filepath);
  });
}
