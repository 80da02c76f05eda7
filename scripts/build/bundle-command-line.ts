// Bundles the command line into one file, which runs alone: nothing else is loaded, so that it starts at once, and it can be copied to
// any machine that has Node.
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import { findProgram } from "../../bin/find-program.js";

const input = "src/cli/client/main.ts";

/** The dependencies, as npm has installed them. */
const installed = "node_modules/.package-lock.json";

/**
 * Bundles the command line of a checkout, unless there is a bundle of what is there now.
 *
 * @param root of the checkout.
 */
export async function bundleCommandLine(root: string): Promise<void> {
  const builds = join(root, "build");
  if (findProgram(root, "command line").startsWith(builds)) return;
  const startedAt = Date.now();
  const name = `${startedAt}-${process.pid}.js`;
  const modules = await writeCommandLine(root, join(builds, "command-line", name));
  const files: Record<string, [size: number, time: number]> = {};
  for (const path of [...modules.filter((each) => /^(src|gen)\/|^package\.json$/.test(each)), installed]) {
    const { size, mtimeMs } = await stat(join(root, path));
    // Whether the bundle has the file before or after the change is not known.
    if (mtimeMs > startedAt) return;
    files[path] = [size, mtimeMs];
  }
  const manifest = join(builds, `${name}.json`);
  await writeFile(manifest, JSON.stringify({ program: `build/command-line/${name}`, files, modules }));
  await rename(manifest, join(builds, "command-line.json"));
  for (const other of await readdir(join(builds, "command-line"))) {
    if (other !== name) await rm(join(builds, "command-line", other));
  }
}

/**
 * Writes the bundle to a file.
 *
 * @returns the modules in it, as paths below the root.
 */
export async function writeCommandLine(root: string, file: string): Promise<readonly string[]> {
  const bundle = await rolldown({ input: join(root, input), platform: "node", logLevel: "warn" });
  const { output } = await bundle.write({
    dir: dirname(file),
    entryFileNames: relative(dirname(file), file),
    format: "esm",
    // Each start scans the text. With a single character beyond Latin 1, V8 keeps all of it in two bytes a character.
    charset: "ascii",
    comments: false,
    codeSplitting: false,
    banner: "#!/usr/bin/env node",
  });
  await bundle.close();
  return output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : [])).map((id) => relative(root, id));
}
