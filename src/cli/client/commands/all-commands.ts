import { configCommand } from "../login/config-command.ts";
import { loginCommand, logoutCommand } from "../login/login-command.ts";
import { completionCommand } from "../completion/completion-command.ts";
import { accessCommands } from "./access-commands.ts";
import type { Command } from "./command.ts";
import { editCommand } from "./edit-command.ts";
import { fileCommands } from "./file-commands.ts";
import { planCommands } from "./plan-command.ts";
import { rollbackCommand } from "./rollback-command.ts";
import { workCommands } from "./work-commands.ts";

/** The commands that are no verbs of the API. One with the name of a verb stands for it. */
export const commands: readonly Command[] = [
  loginCommand,
  logoutCommand,
  configCommand,
  editCommand,
  ...accessCommands,
  ...workCommands,
  ...fileCommands,
  ...planCommands,
  rollbackCommand,
  completionCommand,
];

/** Commands that are run by the program of the service, which bin/tenantry.js starts. */
export const serviceCommands: Readonly<Record<string, string>> = {
  serve: "start the service",
  migrate: "migrate its database",
  dump: "write its database to a file, as a backup",
  restore: "load such a file into an empty database",
  import: "import an organisation from a file",
  verify: "check an export of the log",
  "operator-key": "create another API key for the operator",
  "sign-in-link": "create a link with which the operator signs in",
  "forget-secret-key": "end what is encrypted with a lost key",
};
