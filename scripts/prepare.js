// `npm ci` runs this, with whichever Node.js there is: builds, and says what it means if that fails. It is the script `postprepare`,
// since npm warns of `prepare` as of an install script when it installs a packed file.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isOldNode, requiredNode } from "../bin/required-node.js";

/** Builds with this Node.js, and returns whether that succeeded. */
function build() {
  const script = fileURLToPath(new URL("build.ts", import.meta.url));
  return spawnSync(process.execPath, [script], { stdio: "inherit" }).status === 0;
}

if (isOldNode) {
  console.log(
    `Nothing is built, since that needs Node.js ${requiredNode} or newer, and this is ${process.versions.node}. ` +
      'On Linux, "npm ci" brings one, unless it leaves out the dependencies of development; without these, Tenantry does not ' +
      "start from here. For servers, install the package that npm pack writes.",
  );
} else if (!build()) {
  console.log(
    "The build failed: without a bundle Tenantry starts from its sources, and without a console it serves the API.",
  );
}
