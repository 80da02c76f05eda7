#!/usr/bin/env node
// Written for any Node that has modules, so that an old one gets a sentence and not a syntax error.
import { existsSync } from "fs";
import * as module from "module";
import { fileURLToPath, pathToFileURL } from "url";

var required = [22, 18];
var version = process.versions.node.split(".").map(Number);

/** Says how to get a Node.js that is new enough. */
function adviceFor(platform) {
  if (existsSync(new URL("../src", import.meta.url))) {
    return 'After "npm ci", "npm start" and "npm run tenantry -- <command>" use the Node.js that came with it where there is one.';
  }
  if (platform !== "linux") return "Install a newer one.";
  return (
    '"npm install node-linux-' +
    process.arch +
    '@24.21.0", where this is installed, gets one, with which "npx tenantry" runs.'
  );
}

if (version[0] < required[0] || (version[0] === required[0] && version[1] < required[1])) {
  console.error(
    "tenantry needs Node.js " +
      required.join(".") +
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
    .then((program) => import(pathToFileURL(program).href));
}
