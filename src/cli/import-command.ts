import { type Command, InvalidArgumentError, Option } from "commander";
import type { ClientConfig } from "../client-settings.ts";
import { isName } from "../paths/parse-path.ts";
import type { ImportOptions, ImportTerminal } from "./import-organisation.ts";

export function addImportCommand(
  program: Command,
  readConfig: () => ClientConfig,
  terminal: ImportTerminal = process,
): void {
  program
    .command("import")
    .description(
      "create an organisation with its members, groups, projects and role bindings from a JSON or YAML file, through the API of a running service; existing resources are left unchanged, so an import that ended early can be run again, and reported if they are not as the file says",
    )
    .argument("<file>", "the file; - reads standard input")
    .option(
      "--server <url>",
      "the URL of the service (default: TENANTRY_URL, that of a server which runs with TENANTRY_DATA, or http://localhost:8080)",
    )
    // As it was called before it was that of all other commands.
    .addOption(new Option("--url <url>").hideHelp().conflicts("server"))
    .option("--key-file <file>", "a file with an API key (default: TENANTRY_API_KEY, or operator-key in TENANTRY_DATA)")
    .option("--org <name>", "the name of the organisation, instead of the one in the file", readOrgName)
    .option("--dry-run", "show what the import would do, without changing anything")
    .option(
      "--strict",
      "change nothing and exit with code 2 if the organisation has resources or values that are not those of the file",
    )
    .option(
      "--skip-unknown-members",
      "leave out members of groups that are in neither members nor admins; by default, nothing is imported then",
    )
    .option("--concurrency <n>", "the maximum number of concurrent requests, 1 to 64", readConcurrency, 8)
    .option("--verbose", "show all differences, changed names and skipped memberships")
    .action(async (file: string, options: ImportOptions) => {
      const config = readConfig();
      // Loaded only here: a server that starts does not need it.
      const { importOrganisation } = await import("./import-organisation.ts");
      await importOrganisation(file, options, config, terminal);
    });
}

function readOrgName(text: string): string {
  if (isName(text)) return text;
  throw new InvalidArgumentError("A name is 1 to 64 lowercase letters, digits and dashes, such as acme.");
}

function readConcurrency(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= 64) return number;
  throw new InvalidArgumentError("It must be a whole number from 1 to 64.");
}
