// Starts the service as a process of its own, with an empty database, for what drives it from outside.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

export interface RunningService {
  readonly url: string;
  readonly pid: number;
  /** The API key of the operator. */
  readonly key: string;
  /** A folder that is removed at the end. */
  readonly directory: string;
  /** Starts another program of the project, and returns what the group of the pattern matches in its output. */
  readonly start: (args: readonly string[], env: Record<string, string>, pattern: RegExp) => Promise<string>;
}

/**
 * Runs the service while `use` runs, and stops it and everything that `use` has started.
 *
 * @param settings of the service, beside those that let it run here.
 */
export async function withService(
  use: (service: RunningService) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tenantry-service-"));
  const started: ChildProcess[] = [];
  const start: RunningService["start"] = async (args, env, pattern) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.push(child);
    let output = "";
    for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      output += String(text);
      const found = pattern.exec(output);
      if (found === null) continue;
      // Nobody reads the rest.
      child.stdout.resume();
      return found[1] ?? "";
    }
    throw new Error(`${args.join(" ")} has ended: ${output}`);
  };
  try {
    const data = join(directory, "data");
    const env = {
      PORT: "0",
      TENANTRY_DATA: data,
      TENANTRY_SHUTDOWN_DELAY_MS: "0",
      TENANTRY_ACCESS_LOG: "off",
      ...settings,
    };
    const url = await start(["bin/tenantry.js", "serve"], env, /listening on (http:[^"]+)/);
    const key = readFileSync(join(data, "operator-key"), "utf8").trim();
    await use({ url, pid: started[0]?.pid ?? 0, key, directory, start });
  } finally {
    for (const child of started.toReversed()) {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    }
    rmSync(directory, { recursive: true, force: true });
  }
}
