// The entry of the command line. Only this file reads the arguments. What few commands need is loaded where it is needed: most take as
// long to load as to run.
import { homedir } from "node:os";
import packageJson from "../../../package.json" with { type: "json" };
import { CommandError } from "./command-error.ts";
import type { Host } from "./host.ts";
import { runCommandLine } from "./run.ts";

const maxInputBytes = 1_048_576;

const { stdin, stdout, stderr, env } = process;
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    process.exitCode = signal === "SIGINT" ? 130 : 143;
    stopping.abort(new Error(`stopped by ${signal}`));
  });
}
// What reads the output may end before it, as `head` does. A command that has more to do ends as one that SIGPIPE has killed.
for (const stream of [stdout, stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exitCode ??= 141;
    process.exit();
  });
}

const host: Host = {
  env,
  homeDirectory: homedir(),
  platform: process.platform,
  isInteractive: stdin.isTTY && stderr.isTTY,
  isAttended: stderr.isTTY,
  isTerminal: stdout.isTTY,
  columns: Math.max(40, stdout.isTTY ? stdout.columns : 100),
  now: Date.now,
  signal: stopping.signal,
  print: (text) => void stdout.write(text),
  warn: (text) => void stderr.write(text),
  readInput,
  ask,
  openBrowser,
  edit,
};

const code = await runCommandLine(host, process.argv.slice(2), packageJson.version);
process.exitCode ??= code;

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    length += (chunk as Buffer).length;
    if (length > maxInputBytes)
      throw new CommandError("standard input is larger than a megabyte, which the service does not accept");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function ask(question: string, isSecret = false): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import("node:readline/promises"),
    import("node:stream"),
  ]);
  stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: isSecret ? silent : stderr, terminal: true });
  // The terminal brings Ctrl-C and Ctrl-D as characters while a question is open.
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return await Promise.race([lines.question("", { signal: stopping.signal }), closed]);
  } finally {
    lines.close();
    if (isSecret) stderr.write("\n");
  }
}

/** Opens the browser. Where there is none, the person opens the address that was printed. */
async function openBrowser(url: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...words: string[]]>> = {
    darwin: ["open"],
    win32: ["rundll32", "url.dll,FileProtocolHandler"],
  };
  const named = env["BROWSER"];
  const [program, ...words] = named ? [named] : (openers[process.platform] ?? ["xdg-open"]);
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve());
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}

/** Runs the editor as git does: the setting may have arguments, which the shell splits. */
async function edit(file: string): Promise<void> {
  const editor = env["VISUAL"] || env["EDITOR"];
  if (!editor) throw new CommandError("EDITOR is not set", { next: "EDITOR=nano tenantry edit PATH" });
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "tenantry", file], { stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (status) =>
      status === 0
        ? resolve()
        : reject(new CommandError(`the editor ended with ${String(status)}; nothing was changed`)),
    );
  });
}
