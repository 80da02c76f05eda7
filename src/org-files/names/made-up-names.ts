import { createHash } from "node:crypto";
import { isName } from "../../paths/parse-path.ts";
import { nameKey } from "./name-key.ts";

const longestName = 64;

/** 64 bits, so that nobody can choose an original that gets the name of another one. */
const hashLength = 16;

const formerHashLength = 8;

/**
 * Returns a name for an original that is not a valid name: what is left of it, and a hash of the original. So it depends on the
 * original alone, and originals that differ in more than their case have different names: `Zoë` becomes `zo-` and the hash.
 */
export function makeUpName(original: string): string {
  const key = nameKey(original);
  return withHash(key, createHash("sha256").update(key).digest("hex").slice(0, hashLength));
}

/**
 * Returns the names that earlier versions made up for an original. Others could get the same: `Jürgen` and
 * `Jörgen` both became `j-rgen`, or `j-rgen-` and a hash if they were in one file.
 */
export function formerNamesOf(original: string): string[] {
  const key = nameKey(original);
  const hash = createHash("sha256").update(`1 ${key}`).digest("hex").slice(0, formerHashLength);
  return [simplify(key, longestName), withHash(key, hash)].filter(isName);
}

function withHash(key: string, hash: string): string {
  const start = simplify(key, longestName - hash.length - 1);
  return start === "" ? hash : `${start}-${hash}`;
}

/** Replaces each run of characters that a name cannot have by a dash. */
function simplify(key: string, length: number): string {
  return key
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, length)
    .replace(/-$/, "");
}
