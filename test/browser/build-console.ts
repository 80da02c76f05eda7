import { join } from "node:path";
import { buildConsole } from "../../scripts/build/build-console.ts";

/** Builds the console that the servers of the tests serve, as it is now. */
export async function setup(): Promise<void> {
  await buildConsole(join(import.meta.dirname, "../.."));
}
