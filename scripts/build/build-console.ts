// Builds the console into `dist/console`, from where the service serves it, with its files compressed as well as they can be: once here,
// and not for each request.
import { existsSync } from "node:fs";
import { readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { mediaTypeOf } from "../../src/console/media-types.ts";

/** What is smaller fits into one packet anyway. */
const leastBytes = 1_024;

/**
 * Builds the console of a checkout. A build that fails leaves the one from before, and so does one that is killed, except between the two
 * renames by which the new one takes its place.
 *
 * @param root of the checkout.
 * @returns the paths of the modules in it.
 * @throws Error with the code ERR_MODULE_NOT_FOUND where the dependencies of development are not installed.
 */
export async function buildConsole(root: string): Promise<readonly string[]> {
  const { build } = await import("vite");
  const outDir = join(root, `dist/console-${process.pid}`);
  const [served, old] = [join(root, "dist/console"), `${outDir}-old`];
  const configFile = join(root, "console/vite.config.ts");
  // Vite keeps what is set, as by a test runner, and React is half as large for production.
  const { NODE_ENV: environment } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    const built = await build({ configFile, logLevel: "warn", build: { outDir, emptyOutDir: true } });
    const assets = join(outDir, "assets");
    await Promise.all((await readdir(assets)).map((name) => compress(assets, name)));
    if (existsSync(served)) await rename(served, old);
    await rename(outDir, served);
    const chunks = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
    return chunks.flatMap((each) => (each.type === "chunk" ? each.moduleIds : []));
  } finally {
    if (environment === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = environment;
    if (!existsSync(served) && existsSync(old)) await rename(old, served);
    for (const folder of [outDir, old]) await rm(folder, { recursive: true, force: true });
  }
}

/** @throws Error for a file that the service would not serve. */
async function compress(folder: string, name: string): Promise<void> {
  const { isText } = mediaTypeOf(name);
  const plain = await readFile(join(folder, name));
  if (!isText || plain.length < leastBytes) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([writeFile(join(folder, `${name}.br`), br), writeFile(join(folder, `${name}.gz`), gz)]);
}
