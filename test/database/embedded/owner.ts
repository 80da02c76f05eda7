// A process that owns an embedded server, for tests that kill it. Takes the options as JSON in its argument, tells what
// happens in lines of JSON, and obeys the lines "stop" and "exit".
import { createInterface } from "node:readline";

import type { EmbeddedPostgresError } from "../../../src/database/embedded/embedded-postgres-error.ts";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from "../../../src/database/embedded/start-embedded-postgres.ts";

const tell = (event: string, fields: object = {}) =>
  void process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
process.on("SIGINT", () => tell("interrupted"));

const commands = createInterface({ input: process.stdin });
try {
  const embedded = await startEmbeddedPostgres({
    ...(JSON.parse(process.argv[2] ?? "") as Omit<EmbeddedPostgresOptions, "log">),
    log: (level, message, fields) => tell("log", { level, message, fields }),
    onGiveUp: ({ message }) => tell("gave up", { message }),
  });
  commands.on("line", (command) => {
    if (command === "exit") process.exit();
    process.stdin.destroy();
    void Promise.all([embedded.stop(), embedded.stop()]).then(() => tell("stopped"));
  });
  tell("ready", embedded);
} catch (error) {
  const { message, reason } = error as EmbeddedPostgresError;
  tell("failed", { message, reason });
  process.stdin.destroy();
}
