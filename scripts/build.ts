// Bundles the service and the command line: `npm ci` runs this, and `node scripts/build.ts` does after a change.
import { join } from "node:path";

try {
  const { bundleService } = await import("./build/bundle-service.ts");
  const { bundleCommandLine } = await import("./build/bundle-command-line.ts");
  const root = join(import.meta.dirname, "..");
  await bundleService(root);
  await bundleCommandLine(root);
} catch (error) {
  // The bundler is a dependency of development, which `npm ci --omit=dev` leaves out.
  if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.log("There is no bundler: Tenantry will start from its sources, which takes twice as long.");
}
