// Bundles the service and the command line, builds the console, and removes what packages bring for nothing: `npm ci` runs this, and `node scripts/build.ts` does after a change.
import { join } from "node:path";
import { trimPackages } from "./build/trim-packages.ts";

const root = join(import.meta.dirname, "..");

await trimPackages(root);
try {
  const { bundleService } = await import("./build/bundle-service.ts");
  const { bundleCommandLine } = await import("./build/bundle-command-line.ts");
  const { buildConsole } = await import("./build/build-console.ts");
  await bundleService(root);
  await bundleCommandLine(root);
  await buildConsole(root);
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.log(
    "The dependencies of development are left out, so nothing is built, and Tenantry does not start from here. " +
      "Run npm ci; or install the package that npm pack writes, which needs none of them.",
  );
}
