import type { Command } from "commander";

export interface VerifyOptions {
  readonly head?: readonly string[];
  readonly keys?: string;
}

export function addVerifyCommand(program: Command, print: (line: string) => void): void {
  program
    .command("verify")
    .description(
      "check, without a service, that changes in a file are those that were written: none is changed, left out or in another place, and each shows what is proved; the file has a change in JSON on each line, the earliest first, with its proof",
    )
    .argument("<file>", "the file")
    .option(
      "--head <file>",
      "a file with signed heads that were kept, or a hash; it is a fault if no change that follows another in the file has the hash: that was cut off or replaced. Can be repeated",
      (head: string, heads: readonly string[]) => [...heads, head],
      [],
    )
    .option(
      "--keys <file>",
      "the keys that verify signed heads, from /.well-known/log-keys.json of the service; without them, signatures are not checked",
    )
    .action(async (file: string, options: VerifyOptions) => {
      // Loaded only here: a server that starts does not need it.
      const { verifyFile } = await import("./verify-file.ts");
      const { faults } = await verifyFile(file, options, print);
      if (faults > 0) process.exitCode = 1;
    });
}
