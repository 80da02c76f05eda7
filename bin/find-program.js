// Finds what to run: the bundle in `build/`, which starts in half of the time, if nothing has changed since it was made; otherwise
// the sources, or the JavaScript of the npm package, which has no sources.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a bundle was made from, and where it is: `files` has the size in bytes and the time of change of each file, by its path. */
const manifestFile = "build/manifest.json";

/**
 * @param {string} root the root of the checkout or package.
 * @returns {string} a path.
 */
export function findProgram(root) {
  const places = [bundleOf(root), "src/main.ts", "dist/src/main.js"].filter((place) => place !== undefined);
  return join(root, places.find((place) => existsSync(join(root, place))) ?? "src/main.ts");
}

/** Returns the path of the bundle below the root; undefined if there is none, or if a file that it was made from has changed. */
function bundleOf(root) {
  try {
    const { program, files } = JSON.parse(readFileSync(join(root, manifestFile), "utf8"));
    const isSame = ([path, [size, time]]) => {
      const stat = statSync(join(root, path));
      return stat.size === size && stat.mtimeMs === time;
    };
    return Object.entries(files).every(isSame) ? program : undefined;
  } catch {
    return undefined;
  }
}
