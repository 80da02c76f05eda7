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
      "a hash that was noted earlier; it is a fault if no change that follows another in the file has it: that was cut off or replaced. Can be repeated",
      (hash: string, hashes: readonly string[]) => [...hashes, hash],
      [],
    )
    .action(async (file: string, options: VerifyOptions) => {
      // Loaded only here: a server that starts does not need it.
      const { verifyFile } = await import("./verify-file.ts");
      const { faults } = await verifyFile(file, options, print);
      if (faults > 0) process.exitCode = 1;
    });
}
