// Finds what to run: the bundle in `build/`, which starts in half of the time, if nothing has changed since it was made; otherwise
// the sources, or the bundle of the npm package, which has no sources.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The commands of the program that serves, and has the database. All others are those of the command line, a client. */
export const serviceCommands = [
  "serve",
  "migrate",
  "dump",
  "restore",
  "operator-key",
  "forget-secret-key",
  "sign-in-link",
  "import",
  "verify",
];

/** `verify FILE` is of the service, and the verb of event streams that has the same name is a call. */
const eventStream = /^\/?(orgs\/[^/]+\/)?event-?streams\/[^/]+$/i;

/**
 * @param {readonly string[]} words of the command line.
 * @returns {"service" | "command line"} the program that runs it.
 */
export function programOf([command, ...words]) {
  if (command === "verify" && words.some((word) => eventStream.test(word))) return "command line";
  return serviceCommands.includes(command) ? "service" : "command line";
}

/**
 * Where each program is. `manifest` says what its bundle was made from, and where that is: `files` has the size in bytes and the time
 * of change of each file, by its path.
 */
const programs = {
  service: { manifest: "build/manifest.json", places: ["src/main.ts", "dist/service/main.js"] },
  "command line": { manifest: "build/command-line.json", places: ["src/cli/client/main.ts", "dist/command-line.js"] },
};

/**
 * @param {string} root the root of the checkout or package.
 * @param {"service" | "command line"} name of the program.
 * @returns {string} a path.
 */
export function findProgram(root, name) {
  const { manifest, places } = programs[name];
  const found = bundleOf(root, manifest) ?? places.find((place) => existsSync(join(root, place)));
  return join(root, found ?? places[0]);
}

/** Returns the path of a bundle below the root; undefined if there is none, or if a file that it was made from has changed. */
function bundleOf(root, manifest) {
  try {
    const { program, files } = JSON.parse(readFileSync(join(root, manifest), "utf8"));
    const isSame = ([path, [size, time]]) => {
      const stat = statSync(join(root, path));
      return stat.size === size && stat.mtimeMs === time;
    };
    return Object.entries(files).every(isSame) && existsSync(join(root, program)) ? program : undefined;
  } catch {
    return undefined;
  }
}
