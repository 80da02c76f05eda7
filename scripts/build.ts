// Bundles the service and the command line, and builds the console: `npm ci` runs this, and `node scripts/build.ts` does after a change.
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** What is built, and what it means that the dependencies of development are left out, as by `npm ci --omit=dev`. */
const steps = [
  {
    run: async () => (await import("./build/bundle-service.ts")).bundleService(root),
    without: "There is no bundler: Tenantry will start from its sources, which takes twice as long.",
  },
  {
    run: async () => (await import("./build/bundle-command-line.ts")).bundleCommandLine(root),
    without: "There is no bundler: the command line will start from its sources, which takes longer.",
  },
  {
    run: async () => (await import("./build/build-console.ts")).buildConsole(root),
    without: "There is no Vite: Tenantry will serve without its console, unless that was built before.",
  },
];

for (const { run, without } of steps) {
  try {
    await run();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.log(without);
  }
}
