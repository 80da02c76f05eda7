// `npm ci` runs this, with whichever Node.js there is: builds, and says what it means if that fails. It is the script `postprepare`,
// since npm warns of `prepare` as of an install script when it installs a packed file.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const { status } = spawnSync(process.execPath, [fileURLToPath(new URL("build.ts", import.meta.url))], {
  stdio: "inherit",
});
if (status !== 0) {
  console.log(
    "The build failed: without a bundle Tenantry starts from its sources, and without a console it serves the API.",
  );
}
