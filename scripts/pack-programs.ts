// Writes the programs of the npm package into dist/, with all that they need: the service, the command line, the console, and the licenses of
// what is in them. `npm pack` runs this.
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildConsole } from "./build/build-console.ts";
import { writeCommandLine } from "./build/bundle-command-line.ts";
import { writeService } from "./build/bundle-service.ts";
import { collectLicenses } from "./build/collect-licenses.ts";

const root = join(import.meta.dirname, "..");

const { output } = await writeService(root, join(root, "dist/service"), true);
const modules = [
  ...output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : [])),
  ...(await writeCommandLine(root, join(root, "dist/command-line.js"))).map((id) => resolve(root, id)),
  ...(await buildConsole(root)),
  // Copied by scripts/bundle-docs.ts.
  join(root, "node_modules/swagger-ui-dist/swagger-ui-bundle.js"),
];
await writeFile(join(root, "dist/licenses.txt"), await collectLicenses(modules));
