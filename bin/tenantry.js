#!/usr/bin/env node
// Written for any Node that has modules, so that an old one gets a sentence and not a syntax error.
import { existsSync } from "fs";
import * as module from "module";
import { fileURLToPath } from "url";

var required = [22, 18];
var version = process.versions.node.split(".").map(Number);

if (version[0] < required[0] || (version[0] === required[0] && version[1] < required[1])) {
  console.error(
    "tenantry needs Node.js " +
      required.join(".") +
      " or newer; this is " +
      process.versions.node +
      " (" +
      process.execPath +
      ").\n" +
      'After "npm ci", "npm start" and "npm run tenantry -- <command>" use the Node.js that came with it where there is one.',
  );
  process.exitCode = 1;
} else {
  // Loading takes half of the time with what Node has compiled before. Where this cannot be written, it goes without.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
  // Node does not run TypeScript below node_modules, so the package holds JavaScript in its place.
  import(existsSync(new URL("../src/main.ts", import.meta.url)) ? "../src/main.ts" : "../dist/src/main.js");
}
