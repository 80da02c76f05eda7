// Bundles the service: `npm ci` runs this, and `node scripts/build.ts` does after a change.
import { join } from "node:path";
import { bundleService } from "./build/bundle-service.ts";

await bundleService(join(import.meta.dirname, ".."));
