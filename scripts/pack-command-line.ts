// Writes the command line as one file for the npm package: `node scripts/pack-command-line.ts [FILE]` (dist/command-line.js by default).
import { join, resolve } from "node:path";
import { writeCommandLine } from "./build/bundle-command-line.ts";

const root = join(import.meta.dirname, "..");
await writeCommandLine(root, resolve(root, process.argv[2] ?? "dist/command-line.js"));
