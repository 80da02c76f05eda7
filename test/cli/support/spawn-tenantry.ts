import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inject } from "vitest";

const program = join(import.meta.dirname, "../../../bin/tenantry.js");

export interface RunningCommand {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, or null after a signal. */
  readonly exit: Promise<number | null>;
}

/** Starts the real command without the variables of this process that would affect it. */
export function spawnTenantry(
  args: readonly string[],
  environment: Record<string, string> = {},
  input = "",
): RunningCommand {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      NODE_COMPILE_CACHE: inject("compileCache"),
      TENANTRY_SHUTDOWN_DELAY_MS: "0",
      ...environment,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A command that does not read its input may end before it is written.
  child.stdin.on("error", () => {}).end(input);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exit = once(child, "close").then(([code]) => code as number | null);
  return { process: child, stdout: () => stdout, stderr: () => stderr, exit };
}

/** Runs the command until it exits. */
export async function runTenantry(
  args: readonly string[],
  environment?: Record<string, string>,
  input?: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { exit, stdout, stderr } = spawnTenantry(args, environment, input);
  const code = await exit;
  return { code, stdout: stdout(), stderr: stderr() };
}
