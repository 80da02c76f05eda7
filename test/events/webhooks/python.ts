// Starts receivers of examples/, which are written in Python.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../../..");

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

interface StartedPython {
  readonly url: string;
  /** What it has printed. */
  readonly lines: () => string[];
  /** Ends it as `kill -9` does. */
  readonly kill: () => Promise<void>;
}

/** Starts a receiver. @param file in examples/. @param secret with which it verifies. */
export async function startPython(file: string, secret: string, args: readonly string[] = []): Promise<StartedPython> {
  const child = spawn("python3", [join(root, "examples", file), "--port", "0", ...args], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  await expect.poll(() => output.stderr).toContain("receives at");
  const [url = ""] = /http:\S+/.exec(output.stderr) ?? [];
  return {
    url,
    lines: () => output.stdout.split("\n").filter((line) => line !== ""),
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
