// Bundles the service: `npm ci` runs this, and `node scripts/build.ts` does after a change.
import { join } from "node:path";

try {
  const { bundleService } = await import("./build/bundle-service.ts");
  await bundleService(join(import.meta.dirname, ".."));
} catch (error) {
  // The bundler is a dependency of development, which `npm ci --omit=dev` leaves out.
  if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.log("There is no bundler: Tenantry will start from its sources, which takes twice as long.");
}
