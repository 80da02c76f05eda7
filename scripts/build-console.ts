// Builds the console, or fails: `node scripts/build-console.ts`.
import { join } from "node:path";
import { buildConsole } from "./build/build-console.ts";

await buildConsole(join(import.meta.dirname, ".."));
