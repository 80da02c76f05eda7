import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { RunAs } from "./run-as.ts";

/**
 * The environment of PostgreSQL's programs. Ours is not passed on, because a PGDATA or a locale in it would change their
 * behaviour.
 */
export const programEnvironment = { LC_ALL: "C", TZ: "UTC" };

/** Runs a program and returns its output. If it fails, its stderr is the message of the error. */
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
