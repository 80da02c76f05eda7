// Builds the console, or fails: `npm pack` runs this.
import { join } from "node:path";
import { buildConsole } from "./build/build-console.ts";

await buildConsole(join(import.meta.dirname, ".."));
