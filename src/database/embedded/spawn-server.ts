import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { accessSettings } from "./restrict-access.ts";
import { dataArgument, type RunAs } from "./run-as.ts";
import { programEnvironment } from "./run-program.ts";
import { createServerLog, logLinePrefix, type Log, type ServerLog } from "./server-log.ts";
import { processMarks } from "./server-process.ts";
import type { SocketDirectory } from "./socket-directory.ts";

export interface ServerOptions {
  readonly program: string;
  readonly cluster: string;
  readonly runAs: RunAs;
  readonly sockets: SocketDirectory;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: Log;
}

export interface ServerChild {
  /** Undefined if the process could not be started; `exited` then has the reason. */
  readonly pid: number | undefined;
  readonly log: ServerLog;
  readonly isRunning: () => boolean;
  /** Resolves with how the server ended: "exit code 1". */
  readonly exited: Promise<string>;
}

/** Starts the server as a child process. It does not accept connections immediately. */
export function spawnServer(options: ServerOptions): ServerChild {
  const settings = {
    shared_buffers: "128MB",
    max_connections: "100",
    shared_preload_libraries: "",
    jit: "off", // costs more than it gains for small queries
    timezone: "UTC",
    log_timezone: "UTC",
    log_checkpoints: "off",
    log_min_error_statement: "panic", // statements hold the customers' data
    ...options.settings,
    listen_addresses: "",
    port: "5432",
    unix_socket_directories: `"${options.sockets.forServer}"`,
    unix_socket_permissions: "0700",
    ...accessSettings(options.cluster, options.runAs),
    log_destination: "stderr",
    logging_collector: "off",
    log_line_prefix: logLinePrefix,
    ...processMarks(options.cluster),
  };
  const child = spawn(
    options.program,
    [
      "-D",
      dataArgument(options.cluster, options.runAs),
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    {
      ...options.runAs,
      cwd: options.cluster,
      env: programEnvironment,
      stdio: ["ignore", "ignore", "pipe"],
      // The server gets its own session, so that Ctrl-C in the terminal signals only us, and requests in flight can finish
      // first.
      detached: true,
    },
  );
  const log = createServerLog(options.log);
  createInterface({ input: child.stderr }).on("line", (line) => log.write(line));

  // process.exit() does not wait for the server, but signals it.
  const stopAtExit = () => void child.kill("SIGINT");
  process.once("exit", stopAtExit);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      const ending = signal === null ? `exit code ${code}` : signal;
      // The last output may not have arrived yet. "close" follows it, unless a backend still runs.
      child.once("close", () => resolve(ending));
      setTimeout(() => child.stderr.destroy(), 500).unref();
    });
  });
  void exited.then(() => process.off("exit", stopAtExit));
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return { pid: child.pid, log, isRunning, exited };
}
