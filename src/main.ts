// The command line; the only place that reads its arguments.
import { Command } from "commander";
import pino from "pino";
import packageJson from "../package.json" with { type: "json" };
import { addImportCommand } from "./cli/import-command.ts";
import { ConfigError, type Config, describeSettings, readClientConfig, readConfig } from "./config.ts";
import { openInstallation, renewOperatorKey } from "./installation/open-installation.ts";
import { createOperatorKeyFile, operatorKeyFile } from "./operator-key-file.ts";
import { startServer } from "./server.ts";
import { type RunningDatabase, startDatabase } from "./start-database.ts";

/** Two requests to stop that are closer than this are one. */
const secondRequestAfterMs = 500;

const program = new Command("tenantry")
  .description("Manages organisations, projects, groups and members, and who may do what.")
  .version(packageJson.version)
  .showHelpAfterError()
  .addHelpText("after", `\n${describeSettings()}`);

program
  .command("serve")
  .description("start the service; this is what npm start does")
  .action(() => serve(readConfig(process.env)));

program
  .command("migrate")
  .description("bring the database to this version's schema, and stop")
  .action(async () => {
    await withDatabase(readConfig(process.env), async (running) => {
      const applied = await running.migrate();
      print(applied.length === 0 ? "Nothing to migrate." : `Migrated: ${applied.join(", ")}`);
    });
  });

program
  .command("operator-key")
  .description("give the operator one more API key, for when the others are lost, and write it to the data directory")
  .action(async () => {
    const config = readConfig(process.env);
    await withDatabase(config, async ({ database, migrate }) => {
      await migrate();
      const save = createOperatorKeyFile(config.dataDirectory);
      let isFirst = false;
      const installation = await openInstallation(database, async (secret) => {
        await save(secret);
        isFirst = true;
      });
      if (!isFirst) await save(await renewOperatorKey(database, installation, `recovered-${Date.now()}`));
      print(`The operator's new API key is in ${operatorKeyFile(config.dataDirectory)}`);
    });
  });

addImportCommand(program, () => readClientConfig(process.env));

try {
  await program.parseAsync();
} catch (error) {
  printError(error);
  process.exitCode = 1;
}

async function serve(config: Config): Promise<void> {
  const logger = createLogger(config);
  let stoppingSince: number | undefined;

  function stop(reason: string): void {
    if (stoppingSince !== undefined) {
      // Asked again: whoever asks does not want to wait. Not so at once: npm passes on a Ctrl-C that was here already.
      if (performance.now() - stoppingSince > secondRequestAfterMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ reason }, "stopping");
    // What has not started yet is stopped once it has.
    starting
      .then((server) => server.close())
      .then(
        () => logger.info("stopped"),
        (err: unknown) => {
          logger.error({ err }, "stopping failed");
          process.exitCode = 1;
        },
      );
  }

  const starting = startServer(config, logger, (err) => {
    logger.fatal({ err }, "the server cannot go on");
    process.exitCode = 1;
    stop("failure");
  });
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  await starting;
}

async function withDatabase(config: Config, run: (running: RunningDatabase) => Promise<void>): Promise<void> {
  const logger = createLogger({ ...config, logLevel: "warn" });
  const running = await startDatabase(config, logger, (err) => logger.fatal({ err }, "the database cannot go on"));
  try {
    await run(running);
  } finally {
    await running.close();
  }
}

function createLogger(config: Config): pino.Logger {
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** An error as a person should see it: what it says and what lies beneath, without the stack. */
function printError(error: unknown): void {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return;
  }
  for (let cause = error, indent = ""; cause instanceof Error; cause = cause.cause, indent += "  ") {
    process.stderr.write(`${indent}${describe(cause)}\n`);
  }
}

/** Some errors of the system have a code and no message; one for several addresses has an error for each. */
function describe(error: Error): string {
  if (error.message !== "") return error.message;
  if (error instanceof AggregateError) return error.errors.map((each) => describe(each as Error)).join("; ");
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
