// Runs mutation tests: `npm run mutate -- --mutate src/paths/parse-path.ts`, with any arguments of `stryker run`, whose packages are
// installed into scripts/mutation before. With MUTATE=decisions, starts one PostgreSQL for all of the tests that need it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ProvidedContext } from "vitest";
import startServer from "../test/support/global-setup.ts";

const config = "scripts/stryker.config.json";
const program = join(import.meta.dirname, "mutation/node_modules/.bin/stryker");
const decisions = ["--mutate", "src/access/evaluation/**/*.ts,src/access/escalation/**/*.ts"];

const given = process.argv.slice(2);
const isOnServer = process.env["MUTATE"] === "decisions";
const mutated = isOnServer && !given.includes("--mutate") && !given.includes("-m") ? decisions : [];

const provided: Partial<ProvidedContext> = {};
const stopServer = isOnServer
  ? await startServer({ provide: (key, value) => void (provided[key] = value) })
  : () => Promise.resolve();

try {
  const env = {
    TENANTRY_FUZZ_CASES: "50",
    TENANTRY_FUZZ_SEED: "1",
    ...process.env,
    MUTATION_SERVER: JSON.stringify(provided),
  };
  const stryker = spawn(program, ["run", config, ...mutated, ...given], {
    stdio: "inherit",
    env,
  });
  const [code] = (await once(stryker, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await stopServer();
}
