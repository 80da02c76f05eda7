import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { RunAs } from "./run-as.ts";

/** PostgreSQL's programs see nothing of our environment: a PGDATA or a locale there would change what they do. */
export const programEnvironment = { LC_ALL: "C", TZ: "UTC" };

/** Runs one of PostgreSQL's programs to its end and returns its output. What it says on failure is the error's message. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly runAs: RunAs; readonly cwd: string },
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      ...options.runAs,
      cwd: options.cwd,
      env: programEnvironment,
    });
    return stdout;
  } catch (cause) {
    const { message, stderr } = cause as Error & { stderr?: string };
    throw new Error(stderr?.trim() || message, { cause });
  }
}
