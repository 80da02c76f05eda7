import type { Command } from "commander";

export interface VerifyOptions {
  readonly head?: readonly string[];
}

export function addVerifyCommand(program: Command, print: (line: string) => void): void {
  program
    .command("verify")
    .description(
      "check, without a service, that changes in a file are those that were written: none is changed, left out or in another place; the file has a change in JSON on each line, the earliest first, with its proof",
    )
    .argument("<file>", "the file")
    .option(
      "--head <hash>",
      "a hash that was noted earlier; one that is not in the file is a fault: what it is the hash of was cut off. Can be repeated",
      (hash: string, hashes: readonly string[]) => [...hashes, hash],
      [],
    )
    .action(async (file: string, options: VerifyOptions) => {
      // Loaded only here: a server that starts does not need it.
      const { verifyFile } = await import("./verify-file.ts");
      const { entries, faults } = await verifyFile(file, options, print);
      print(`${entries} changes, ${faults} faults`);
      if (faults > 0) process.exitCode = 1;
    });
}
