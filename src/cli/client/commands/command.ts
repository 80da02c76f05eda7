// What commands have in common.
import { type Flag, type ParsedArguments, globalFlags, isSet, single } from "../arguments/flags.ts";
import { CommandError, type ExitCode } from "../command-error.ts";
import type { Contract } from "../contract/contract.ts";
import { type Connection, connect } from "../credentials/connect.ts";
import type { ConnectionFlags } from "../credentials/connect.ts";
import type { ProfileStore } from "../credentials/profiles.ts";
import type { Host } from "../host.ts";
import { escapeText } from "../output/escape-text.ts";
import { type Format, readFormat } from "../output/print-items.ts";

/** What a command runs with. */
export interface CommandCall {
  readonly host: Host;
  readonly contract: Contract;
  readonly store: ProfileStore;
  /** What follows the name of the command. */
  readonly words: readonly string[];
}

export interface Command {
  readonly name: string;
  /** What stands after the name in help: `SUBJECT PERMISSION [RESOURCE]`. */
  readonly usage: string;
  readonly help: string;
  /** Its flags, besides those of all commands. */
  readonly flags: readonly Flag[];
  readonly run: (call: CommandCall, parsed: ParsedArguments) => Promise<ExitCode>;
}

export function readConnectionFlags(parsed: ParsedArguments): ConnectionFlags {
  return {
    server: single(parsed, "server"),
    profile: single(parsed, "profile"),
    org: single(parsed, "org"),
    project: single(parsed, "project"),
    plainHttp: isSet(parsed, "plain-http"),
  };
}

/** @throws CommandError also for a wrong `--output`: told after a call, it would seem that nothing was changed. */
export async function connectTo(call: CommandCall, parsed: ParsedArguments): Promise<Connection> {
  formatOf(call, parsed);
  const { host, store } = call;
  const connection = await connect(host, store, readConnectionFlags(parsed));
  const { isOperator, source, service } = connection;
  if (isOperator && host.isAttended) host.warn(`As the operator of ${service.url}, by ${escapeText(source)}\n`);
  return connection;
}

/** @throws CommandError if a command has more words than it takes, which would be ignored otherwise. */
export function refuseWords(
  { positionals }: ParsedArguments,
  most: number,
  { message, next }: { readonly message: string; readonly next: string },
): void {
  const word = positionals[most];
  if (word !== undefined) throw new CommandError(`${message}, got ${JSON.stringify(word)}`, { next });
}

/** @throws CommandError for a wrong `--output`, and for `--columns` of an output that has none. */
export function formatOf({ host }: CommandCall, parsed: ParsedArguments): Format {
  const output = single(parsed, "output");
  const format = readFormat(output, host.isTerminal);
  if (single(parsed, "columns") === undefined || format === "table" || format === "csv") return format;
  const why = output === undefined ? "; without --output, it is a table at a terminal only" : "";
  throw new CommandError(`--columns is for --output table and csv, and this is ${format}${why}`, {
    next: "--output csv, or without --columns",
  });
}

/** Returns the flags of a command with those of all. */
export function withGlobal(flags: readonly Flag[]): readonly Flag[] {
  return [...flags, ...globalFlags.filter(({ name }) => flags.every((each) => each.name !== name))];
}
