#!/usr/bin/env node
// Written for any Node that has modules, so that an old one gets a sentence and not a syntax error.
import { existsSync } from "fs";
import * as module from "module";
import { fileURLToPath, pathToFileURL } from "url";
import { isOldNode, requiredNode } from "./required-node.js";

var isCheckout = existsSync(new URL("../src", import.meta.url));

/** Says how to get a Node.js that is new enough. */
function adviceFor(platform) {
  if (isCheckout) {
    return 'After "npm ci", "npm start" and "npm run tenantry -- <command>" use the Node.js that came with it where there is one.';
  }
  if (platform !== "linux") return "Install a newer one.";
  return (
    '"npm install node-linux-' +
    process.arch +
    '@24.21.0", where this is installed, gets one, with which "npx tenantry" runs.'
  );
}

/** Says what a checkout lacks that was installed without all of its packages. Anything else is an error of the program. */
function explain(error) {
  if (!isCheckout || error.code !== "ERR_MODULE_NOT_FOUND" || error.message.indexOf("Cannot find package ") !== 0)
    throw error;
  console.error(
    "tenantry does not start from this checkout: the packages of its development are not installed. " +
      'Run "npm ci", without --omit=dev; or install the package that "npm pack" writes, which needs none of them.',
  );
  process.exitCode = 1;
}

if (isOldNode) {
  console.error(
    "tenantry needs Node.js " +
      requiredNode +
      " or newer; this is " +
      process.versions.node +
      " (" +
      process.execPath +
      ").\n" +
      adviceFor(process.platform),
  );
  process.exitCode = 1;
} else {
  // Loading takes half of the time with what Node has compiled before. Where this cannot be written, it goes without.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
  import("./find-program.js")
    .then((finder) => {
      var program = finder.programOf(process.argv.slice(2));
      return finder.findProgram(fileURLToPath(new URL("..", import.meta.url)), program);
    })
    .then((program) => import(pathToFileURL(program).href))
    .catch(explain);
}
