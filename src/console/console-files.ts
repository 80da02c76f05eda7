import { existsSync, readFileSync, readdirSync } from "node:fs";
import { folderWith } from "../http/folder-with.ts";
import { type ServedFile, createServedFile, digestOf } from "../http/served-file.ts";
import { mediaTypeOf } from "./media-types.ts";

/** The files of a console that was built. */
export interface ConsoleFiles {
  readonly index: ServedFile;
  /** What browsers show beside the title of a page; undefined if the build has none. */
  readonly icon: ServedFile | undefined;
  /** By their names, which have a digest in them. Nothing else of the file system can be asked for. */
  readonly assets: ReadonlyMap<string, ServedFile>;
}

/** Returns the folder of the console that was built with this service, a URL that ends with a slash; undefined if none was. */
export function findConsole(): URL | undefined {
  // From the root of the checkout or of the package: a folder above it is somebody else's.
  const folder = new URL("dist/console/", folderWith("bin/tenantry.js"));
  return existsSync(new URL("index.html", folder)) ? folder : undefined;
}

/** Reads a console into memory, so that a later build beside a running server changes nothing for it. */
export function readConsole(folder: URL): ConsoleFiles {
  const index = readFileSync(new URL("index.html", folder));
  const assets = new URL("assets/", folder);
  const entries = readdirSync(assets, { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isFile() && !/\.(br|gz)$/.test(entry.name) ? [entry.name] : []));
  const files = new Map(names.map((name) => [name, readAsset(name, assets)]));
  const icon = names.find((name) => /^icon-[\w-]+\.svg$/.test(name));
  return {
    index: createServedFile("text/html; charset=utf-8", () => index),
    icon: icon === undefined ? undefined : files.get(icon),
    assets: files,
  };
}

/** The build has compressed what is worth it. */
function readAsset(name: string, folder: URL): ServedFile {
  const plain = readFileSync(new URL(name, folder));
  const codings = { br: `${name}.br`, gzip: `${name}.gz` };
  const coded = Object.entries(codings).flatMap(([coding, file]) => {
    const path = new URL(file, folder);
    if (!existsSync(path)) return [];
    const content = readFileSync(path);
    return [[coding, () => content] as const];
  });
  const digest = digestOf(plain);
  return { type: mediaTypeOf(name).type, plain: () => plain, coded: Object.fromEntries(coded), digest: () => digest };
}
