import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Facts about transcoding collected from other implementations. They are not part of this repository; where they are
 * missing, the tests that read them are skipped.
 */
const folder = fileURLToPath(new URL("../../../../shared/vectors/", import.meta.url));

export const haveVectors = existsSync(folder);

if (!haveVectors) console.warn("transcoding vectors: skipped, there is no ../shared/vectors");

/** Returns the rows of a file, or none if the vectors are missing. */
export function loadVectors<Row>(file: string): Row[] {
  if (!haveVectors) return [];
  const rows: Row[] = JSON.parse(readFileSync(`${folder}${file}`, "utf8"));
  return rows;
}
