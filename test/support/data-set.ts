import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dirname, "../../../shared/data");

/** Whether the organisations of real communities are available; they are not part of a checkout. */
export const hasDataSets = existsSync(directory);

export const readDataSet = (name: string): string => readFileSync(join(directory, name), "utf8");
