import { isName } from "../../paths/parse-path.ts";
import { makeUpName } from "./made-up-names.ts";
import { nameKey } from "./name-key.ts";

/** Returns the name in paths for a name in a file, which can be any text: names are compared without case, as in an import. */
export function nameInPaths(original: string): string {
  const key = nameKey(original);
  return isName(key) ? key : makeUpName(key);
}
