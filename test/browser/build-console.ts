import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "../../scripts/build/build-console.ts";

const root = join(import.meta.dirname, "../..");

/** Builds the console that the servers of the tests serve, as it is now. */
export async function setup(): Promise<void> {
  if (!isBuilt()) await buildConsole(root);
}

/** Whether nothing has changed since it was built: neither what it may be made of, nor a folder of that, where a file was removed. */
function isBuilt(): boolean {
  const builtAt = timeOf("dist/console/index.html");
  const sources = globSync(["{console,gen,src}/**", "{package.json,node_modules/.package-lock.json}"], { cwd: root });
  return sources.every((path) => timeOf(path) < builtAt);
}

function timeOf(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
