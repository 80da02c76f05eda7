// Runs a command line.
import { contract } from "../../../gen/command-line.ts";
import { globalFlags, isSet, parseArguments, single } from "./arguments/flags.ts";
import { didYouMean } from "./arguments/nearest.ts";
import { CommandError, type ExitCode, exitCodes } from "./command-error.ts";
import { commands, serviceCommands } from "./commands/all-commands.ts";
import { type CommandCall, withGlobal } from "./commands/command.ts";
import { helpTopics } from "./commands/help-topics.ts";
import { allCommands, commandHelp, mainHelp, verbHelp } from "./commands/help.ts";
import { runVerb } from "./commands/verb-command.ts";
import { complete } from "./completion/complete.ts";
import { methodsOfVerb } from "./contract/find-method.ts";
import { createProfileStore } from "./credentials/profiles.ts";
import type { Host } from "./host.ts";
import { escapeJson, escapeText } from "./output/escape-text.ts";

/**
 * Runs a command, and prints its error.
 *
 * @param words of the command line, after `tenantry`.
 * @param version of the program.
 */
export async function runCommandLine(host: Host, words: readonly string[], version: string): Promise<ExitCode> {
  try {
    return await dispatch(host, words, version);
  } catch (error) {
    if (host.signal.aborted) return exitCodes.refused;
    return printError(host, error);
  }
}

async function dispatch(host: Host, words: readonly string[], version: string): Promise<ExitCode> {
  const { command, rest } = splitCommand(words);
  const call: CommandCall = { host, contract, store: createProfileStore(host), words: rest };
  if (command === undefined) {
    host.print(rest.includes("--version") ? `${version}\n` : mainHelp(contract));
    return exitCodes.done;
  }
  if (command === "__complete") return printCompletions(call);
  if (command === "help") return help(host, rest, version);
  const own = commands.find(({ name }) => name === command);
  if (own !== undefined) {
    const parsed = parseArguments(rest, withGlobal(own.flags), own.name);
    if (!isSet(parsed, "help")) return own.run(call, parsed);
    host.print(commandHelp(own, host.columns));
    return exitCodes.done;
  }
  if (Object.hasOwn(serviceCommands, command) && methodsOfVerb(contract, command).length === 0) {
    throw new CommandError(`${command} must be the first word`, { next: `tenantry ${[command, ...rest].join(" ")}` });
  }
  const [verb, verbWords] = expand(command, rest);
  if (methodsOfVerb(contract, verb).length === 0) {
    throw new CommandError(
      `there is no command ${JSON.stringify(command)}${didYouMean(command, allCommands(contract))}`,
      { next: `tenantry ${otherWords.get(command) ?? "--help"}` },
    );
  }
  if (isHelpAsked(verbWords)) {
    host.print(
      verbHelp(
        contract,
        verb,
        verbWords.find((each) => !each.startsWith("-")),
        host.columns,
      ),
    );
    return exitCodes.done;
  }
  return runVerb({ ...call, words: verbWords }, verb);
}

/** Prints the help of a topic or a command, or that of all. */
async function help(host: Host, words: readonly string[], version: string): Promise<ExitCode> {
  const { command: word } = splitCommand(words);
  if (word === undefined) return dispatch(host, [], version);
  const topic = helpTopics.get(word);
  if (topic !== undefined) {
    host.print(topic(contract, host.columns));
    return exitCodes.done;
  }
  const known = [...allCommands(contract), ...otherWords.keys(), ...helpTopics.keys()];
  if (known.includes(word)) return dispatch(host, [...words, "--help"], version);
  throw new CommandError(`there is no help on ${JSON.stringify(word)}${didYouMean(word, known)}`, {
    next: "tenantry --help",
  });
}

function isHelpAsked(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? undefined : end).some((each) => each === "--help" || each === "-h");
}

/** What commands of other programs are here. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ["grant", "create orgs/ORG/roleBindings/NAME --role-path viewer --subject-path MEMBER"],
  ["revoke", "delete orgs/ORG/roleBindings/NAME"],
  ["unsuspend", "activate orgs/ORG/members/NAME"],
  ["describe", "get --help"],
  ["show", "get --help"],
  ["ls", "list --help"],
  ["remove", "delete --help"],
  ["rm", "delete --help"],
]);

/** Finds the command behind flags of all commands: `tenantry --org acme list members`. */
function splitCommand(words: readonly string[]): {
  readonly command: string | undefined;
  readonly rest: readonly string[];
} {
  const takesValue = (word: string): boolean =>
    globalFlags.some(
      ({ name, short, value }) => value !== undefined && (word === `--${name}` || word === `-${short ?? ""}`),
    );
  let index = 0;
  while (index < words.length && words[index]?.startsWith("-") === true)
    index += takesValue(words[index] ?? "") ? 2 : 1;
  const command = words[index];
  if (command !== undefined) return { command, rest: [...words.slice(index + 1), ...words.slice(0, index)] };
  const known = [...globalFlags, { name: "version", help: "" }];
  single(parseArguments(words, known, "tenantry"), "output");
  return { command, rest: words };
}

/** Returns the verb that a shorter form stands for. */
function expand(command: string, words: readonly string[]): readonly [verb: string, words: readonly string[]] {
  const [first, second, ...others] = words;
  const isPath = first !== undefined && !first.startsWith("-");
  if (command === "changes") {
    return ["list", isPath ? [`${first.replace(/\/$/, "")}/changes`, ...words.slice(1)] : ["changes", ...words]];
  }
  const isOperation = second !== undefined && !second.startsWith("-");
  if (command === "run" && isPath && isOperation) return ["run", [first, `--operation=${second}`, ...others]];
  return [command, words];
}

async function printCompletions(call: CommandCall): Promise<ExitCode> {
  const words = call.words[0] === "--" ? call.words.slice(1) : call.words;
  // A line that cannot be completed is none of an error.
  const found = await complete(call, words).catch(() => []);
  call.host.print(found.map((each) => `${each}\n`).join(""));
  return exitCodes.done;
}

/** Prints an error: in lines for people on a terminal, and else as one line of JSON. */
function printError(host: Host, error: unknown): ExitCode {
  if (!(error instanceof CommandError)) throw error;
  const { message, problems, next, reason, body, exitCode } = error;
  if (host.isAttended) {
    const lines = [`error: ${message}`, ...problems.map((each) => `  ${each}`)];
    const all = next === undefined ? lines : [...lines, `  next: ${next}`];
    host.warn(all.map((line) => `${escapeText(line)}\n`).join(""));
  } else {
    const shown =
      typeof body === "object" && body !== null && "error" in body ? body.error : { status: reason, message };
    host.warn(`${escapeJson(JSON.stringify({ error: shown, ...(next !== undefined && { next }) }))}\n`);
  }
  return exitCode;
}
