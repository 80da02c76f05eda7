// The commands that have the database of a service, or only read files. Those of its clients are in `cli/client`.
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { Command } from "commander";
import pino from "pino";
import packageJson from "../package.json" with { type: "json" };
import { addDumpCommands } from "./cli/dump/dump-commands.ts";
import { addImportCommand } from "./cli/import-command.ts";
import { formatForPeople } from "./http/log-for-people.ts";
import type { OperatorCommands } from "./cli/operator-commands.ts";
import { addVerifyCommand } from "./cli/verify-command.ts";
import { type Config, describeSettings, readClientConfig, readConfig } from "./config.ts";
import { ConfigError } from "./read-settings.ts";
import { createSignInLinkFile, signInLinkFile } from "./installation/sign-in-link.ts";
import { createLogDestination } from "./http/log-destination.ts";
import { createLogStream } from "./http/log-stream.ts";
import { handleProcessFailures } from "./measures/process-failures.ts";

/** Two stop requests within this time count as one. */
const secondRequestAfterMs = 500;

/** How long what is still open after the end may keep the process, such as a request to a collector that does not answer. */
const afterEndMs = 250;

/** How long a server that cannot continue may take to end, besides what calls in flight have. */
const afterGraceMs = 10_000;

const program = new Command("tenantry")
  .description("Serves organisations, projects, groups, members and their access. tenantry --help lists all commands.")
  .version(packageJson.version)
  .showHelpAfterError("Run it with --help to see what it accepts.")
  // A suggestion is a part of the error's line.
  .configureOutput({ outputError: (text, write) => write(text.replace("\n(", " (")) });

program
  .command("serve")
  .description("start the service, as npm start does")
  .addHelpText("after", `\n${describeSettings()}`)
  .action(() => serve(readConfig(process.env)));

program
  .command("migrate")
  .description("migrate the database to the schema of this version, and exit")
  .action(onDatabase(({ migrate }) => migrate()));

program
  .command("operator-key")
  .description(
    "create another API key for the operator, in case the others are lost, and write it to the data directory",
  )
  .action(onDatabase(({ renewKey }) => renewKey()));

program
  .command("forget-secret-key")
  .description("end what is encrypted with a secret key that is lost, so that a server without the key starts")
  .argument("<id>", "the id of the key, which the error of the server names")
  .action((id: string) => onDatabase(({ forgetSecretKey }) => forgetSecretKey(id))());

program
  .command("sign-in-link")
  .description("create a link with which the operator signs in with a browser, once, within an hour")
  .action(onDatabase(({ createLink }) => createLink()));

addImportCommand(program, () => readClientConfig(process.env));
addVerifyCommand(program, print);
addDumpCommands(program, onDatabase, print);

try {
  await program.parseAsync();
} catch (error) {
  printError(error);
  process.exitCode = 1;
}

async function serve(config: Config): Promise<void> {
  const logger = createLogger(config);
  let stoppingSince: number | undefined;
  const stopping = new AbortController();

  function stop(reason: string): void {
    if (stoppingSince !== undefined) {
      // A second request stops the process immediately, except shortly after the first: npm forwards a Ctrl-C that this process
      // got already.
      if (performance.now() - stoppingSince > secondRequestAfterMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ reason }, "stopping");
    // A server that waits for its database ends. One that is still starting is stopped when it has started.
    stopping.abort();
    starting
      .then(async (server) => {
        if (server === undefined) return;
        // Ctrl-C in a terminal sends SIGINT, and its end SIGHUP; they stop the server without the delay.
        if (reason === "SIGTERM") await server.drain(config.shutdownDelayMs);
        await server.close();
      })
      .then(
        () => logger.info("stopped"),
        (err: unknown) => {
          logger.error({ err }, "stopping failed");
          process.exitCode = 1;
        },
      )
      .finally(() => setTimeout(() => process.exit(), afterEndMs).unref());
  }

  const onFatal = (err: Error): void => {
    logger.fatal({ err }, "the server cannot continue");
    process.exitCode = 1;
    stop("failure");
  };
  const failures = handleProcessFailures({
    onRejection: (err) =>
      logger.error({ err }, "nothing waits for what has failed; this is a defect, and the server goes on"),
    onException(err) {
      if (stoppingSince === undefined) onFatal(err);
      else logger.error({ err }, "failed while stopping");
      // What it has left half done may be what the server waits for.
      setTimeout(() => process.exit(1), config.shutdownGraceMs + afterGraceMs).unref();
    },
  });
  // Loaded only here, because other commands start a quarter faster without it.
  const starting = import("./server.ts")
    .then(({ startServer }) =>
      startServer(config, logger, onFatal, undefined, createShowSignInLink(config), stopping.signal, failures),
    )
    .catch((error: unknown) => {
      if (error !== stopping.signal.reason) throw error;
      return undefined;
    });
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  // The terminal has gone. By default, Node would end here and leave the embedded PostgreSQL running.
  if (!isHangupIgnored()) process.on("SIGHUP", stop);
  await starting;
  // Otherwise what was compiled is kept only when the process ends.
  flushCompileCache();
}

/** Whether the process was started to survive its terminal, with `nohup`: a handler would undo that. */
function isHangupIgnored(): boolean {
  try {
    const [, ignored = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    // Not on Linux.
    return false;
  }
}

/** Returns the action of a command for operators. It is loaded only then: a server that starts does not need it. */
function onDatabase(run: (commands: OperatorCommands) => Promise<void>): () => Promise<void> {
  return async () => {
    const config = readConfig(process.env);
    const { createOperatorCommands } = await import("./cli/operator-commands.ts");
    const logger = createLogger({ ...config, logLevel: "warn" });
    const stopping = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
    }
    const showSignInLink = createShowSignInLink(config);
    const output = { logger, print, showSignInLink, progressStream: process.stderr, stopping: stopping.signal };
    await run(createOperatorCommands(config, output));
  };
}

/** Returns a function that prints a link to a terminal. What is no terminal may be a log, so it gets the name of a file. */
function createShowSignInLink({ dataDirectory }: Config): (link: string) => Promise<void> {
  return async (link) => {
    if (process.stdout.isTTY) {
      print(`Sign in as the operator, once, within an hour: ${link}`);
      return;
    }
    await createSignInLinkFile(dataDirectory)(link);
    process.stderr.write(`The link with which the operator signs in is in ${signInLinkFile(dataDirectory)}\n`);
  };
}

/** Logs lines of JSON; to a terminal, lines for people. */
function createLogger(config: Config): pino.Logger {
  const isTerminal = process.stdout.isTTY;
  const out = createLogDestination(process.stdout.fd, { isTerminal });
  const stream = createLogStream(isTerminal ? { write: (text) => out.write(formatForPeople(text)) } : out);
  process.on("exit", () => stream.flush());
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printError(error: unknown): void {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return;
  }
  for (let cause = error, indent = ""; cause instanceof Error; cause = cause.cause, indent += "  ") {
    process.stderr.write(`${indent}${describe(cause)}\n`);
  }
}

/** Some system errors have a code and no message. An error about several addresses has an error for each. */
function describe(error: Error): string {
  if (error.message !== "") return error.message;
  if (error instanceof AggregateError) return error.errors.map((each) => describe(each as Error)).join("; ");
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
