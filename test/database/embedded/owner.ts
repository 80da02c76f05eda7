// Owns an embedded server, for tests that kill the owner. The argument is the options as JSON. Reports events as lines of
// JSON on stdout, and obeys the lines "stop" and "exit" on stdin.
import { createInterface } from "node:readline";

import type { EmbeddedPostgresError } from "../../../src/database/embedded/embedded-postgres-error.ts";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from "../../../src/database/embedded/start-embedded-postgres.ts";

const report = (event: string, fields: object = {}) =>
  void process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
process.on("SIGINT", () => report("interrupted"));

const commands = createInterface({ input: process.stdin });
try {
  const embedded = await startEmbeddedPostgres({
    ...(JSON.parse(process.argv[2] ?? "") as Omit<EmbeddedPostgresOptions, "log">),
    log: (level, message, fields) => report("log", { level, message, fields }),
    onGiveUp: ({ message }) => report("gave up", { message }),
  });
  commands.on("line", (command) => {
    if (command === "exit") process.exit();
    process.stdin.destroy();
    void Promise.all([embedded.stop(), embedded.stop()]).then(() => report("stopped"));
  });
  report("ready", embedded);
} catch (error) {
  const { message, reason } = error as EmbeddedPostgresError;
  report("failed", { message, reason });
  process.stdin.destroy();
}
