import { CommandError, exitCodes } from "../command-error.ts";
import { didYouMean } from "../arguments/nearest.ts";
import type { Command } from "../commands/command.ts";
import { completionScripts } from "./scripts.ts";

export const completionCommand: Command = {
  name: "completion",
  usage: "bash|zsh|fish",
  help: "Print what completes commands in a shell: source <(tenantry completion bash)",
  flags: [],
  run({ host }, { positionals: [shell = "", ...others] }) {
    const script =
      Object.hasOwn(completionScripts, shell) && others.length === 0 ? completionScripts[shell] : undefined;
    const known = Object.keys(completionScripts);
    if (script === undefined)
      throw new CommandError(`completion needs a shell: ${known.join(", ")}${didYouMean(shell, known)}`);
    host.print(script);
    return Promise.resolve(exitCodes.done);
  },
};
