// The commands that the API's own verbs are: get, list, create, update, delete, and what a collection has besides.
import { randomUUID } from "node:crypto";
import {
  type Flag,
  type ParsedArguments,
  aliasOf,
  clearFlag,
  columnsFlag,
  distinct,
  fileFlag,
  flagOfField,
  globalFlags,
  isSet,
  limitFlag,
  limitOf,
  noWaitFlag,
  parseArguments,
  single,
} from "../arguments/flags.ts";
import { asOfFlag, readAsOf } from "../arguments/as-of.ts";
import { type ReadingOptions, readFieldValues } from "../arguments/field-values.ts";
import { didYouMean, fold } from "../arguments/nearest.ts";
import { readFields } from "../arguments/read-fields.ts";
import { CommandError, type ExitCode, exitCodes } from "../command-error.ts";
import type { Contract, Field, Method } from "../contract/contract.ts";
import { fieldsOf, isSwitch } from "../contract/method-fields.ts";
import { type FoundMethod, addressOf, findMethod, methodsOfVerb } from "../contract/find-method.ts";
import { flagOf, kebab } from "../contract/names.ts";
import type { Connection } from "../credentials/connect.ts";
import type { Call } from "../http/service.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { escapeText } from "../output/escape-text.ts";
import { checkColumns, printItem } from "../output/print-items.ts";
import { type CommandCall, connectTo, formatOf } from "./command.ts";
import { confirmRemoval } from "./confirm-removal.ts";
import { printList } from "./print-list.ts";
import { explainFailure } from "./explain-failure.ts";
import { finishOperation } from "./operations.ts";

/** Returns the flags that a method takes, besides those of all commands. */
export function flagsOf(contract: Contract, method: Method): readonly Flag[] {
  const fields = fieldsOf(contract, method);
  const own = fields.map(flagOfField);
  return [
    ...own,
    ...(method.body === "" ? [] : [fileFlag]),
    ...(method.verb === "update" ? [clearFlag] : []),
    ...(method.items === undefined ? [] : [limitFlag]),
    ...(method.fields.includes("as_of_time") ? [asOfFlag] : []),
    ...(startsOperation(method) ? [noWaitFlag] : []),
    columnsFlag,
    ...(method.fields.includes("validate_only") ? [dryRunFlag] : []),
  ];
}

const dryRunFlag: Flag = { name: "dry-run", help: "The same as --validate-only" };

function startsOperation({ output, verb }: Method): boolean {
  return output === "Operation" && !["get", "wait", "cancel"].includes(verb);
}

/** Runs a verb on the paths that follow it. */
export async function runVerb(call: CommandCall, verb: string): Promise<ExitCode> {
  const { contract, host } = call;
  const methods = methodsOfVerb(contract, verb);
  const aliases = methods.flatMap((method) => fieldsOf(contract, method).flatMap(aliasFlag));
  const flags = distinct([...globalFlags, ...methods.flatMap((method) => flagsOf(contract, method)), ...aliases]);
  const parsed = parseArguments(call.words, flags, verb);
  const [path, ...others] = parsed.positionals;
  if (path === undefined) {
    throw new CommandError(
      `${verb} needs a path, such as ${exampleOf(methods.find((each) => each.path.includes("members")) ?? methods[0])}`,
      {
        next: `tenantry ${verb} --help`,
      },
    );
  }
  if (others.length > 0 && ["list", "create"].includes(verb)) {
    throw new CommandError(`${verb} takes one path, and ${JSON.stringify(others[0])} follows it`, {
      next: `tenantry ${verb} --help`,
    });
  }
  const connection = await connectTo(call, parsed);
  const paths = parsed.positionals.map((each) => findMethod(contract, verb, each, connection.context));
  for (const { method, segments } of paths) {
    requireOwnFlags(contract, method, parsed, segments);
    requireColumns(call, method, parsed);
  }
  await confirmRemoval(host, connection, paths, isSet(parsed, "yes") || isDryRun(parsed));
  // Standard input can be read once, for all paths.
  const written = await readFields(host, single(parsed, "file"));
  let code: ExitCode = exitCodes.done;
  for (const found of paths) {
    try {
      code = Math.max(code, await runMethod(call, connection, found, { parsed, written })) as ExitCode;
    } catch (error) {
      throw explainFailure(error, { contract, verb, found });
    }
  }
  return code;
}

function aliasFlag(field: Field): readonly Flag[] {
  const name = aliasOf(field);
  return name === undefined ? [] : [{ ...flagOfField(field), name }];
}

function exampleOf(method: Method | undefined): string {
  const names: Readonly<Record<string, string>> = { orgs: "acme", projects: "web", members: "alice", groups: "sre" };
  const segments = (method?.path ?? "orgs/*").split("/");
  return segments.map((each, index) => (each === "*" ? (names[segments[index - 1] ?? ""] ?? "NAME") : each)).join("/");
}

/** @throws CommandError for a flag that the verb has elsewhere, and not here. */
function requireOwnFlags(
  contract: Contract,
  method: Method,
  parsed: ParsedArguments,
  segments: readonly string[],
): void {
  const own = [...globalFlags, ...flagsOf(contract, method), ...fieldsOf(contract, method).flatMap(aliasFlag)];
  const names = own.map(({ name }) => name);
  const foreign = [...parsed.values.keys()].find((name) => !names.includes(name));
  if (foreign === undefined) return;
  const place = segments.join("/");
  throw new CommandError(
    `${method.verb} ${place} has no flag --${foreign}${didYouMean(
      foreign,
      names.filter((each) => each !== foreign).map((each) => `--${each}`),
    )}`,
    {
      next: `tenantry ${kebab(method.verb)} ${place} --help`,
    },
  );
}

/** @throws CommandError for a column that the answer does not have: told after the call, it would seem that nothing was changed. */
function requireColumns(call: CommandCall, method: Method, parsed: ParsedArguments): void {
  // Lists check theirs before they call. What answers nothing prints nothing.
  if (method.items !== undefined || method.output === "Empty") return;
  const fields = call.contract.messages[method.output ?? ""] ?? [];
  checkColumns(formatOf(call, parsed), fields, single(parsed, "columns"));
}

function isDryRun(parsed: ParsedArguments): boolean {
  return isSet(parsed, "validate-only") || isSet(parsed, "dry-run");
}

/** What is given for all paths. */
interface Given {
  readonly parsed: ParsedArguments;
  /** The fields of the file. */
  readonly written: Readonly<Record<string, unknown>>;
}

async function runMethod(
  call: CommandCall,
  connection: Connection,
  found: FoundMethod,
  given: Given,
): Promise<ExitCode> {
  const { host, contract } = call;
  const { method, segments } = found;
  const { parsed } = given;
  const request = buildCall(call, connection, found, given);
  const format = formatOf(call, parsed);
  const columns = single(parsed, "columns");
  const parent = segments.join("/");
  if (method.items !== undefined) {
    const options = { format, fields: contract.messages[method.item ?? ""] ?? [], columns, parent };
    await printList(host, connection.service, { request, method, limit: limitOf(parsed) }, options);
    return exitCodes.done;
  }
  const answer = await connection.service.call(request);
  const fields = contract.messages[method.output ?? ""] ?? [];
  if (startsOperation(method) && !isDryRun(parsed)) {
    const options = { format, fields, columns, parent, waits: !isSet(parsed, "no-wait") };
    return finishOperation(host, connection.service, answer, options);
  }
  if (method.http !== "GET" && host.isTerminal) {
    const made = method.verb === "create" ? stringOf(recordOf(answer)?.["path"])?.slice(1) : undefined;
    host.warn(`${describeDone(method, isDryRun(parsed))} ${escapeText(made ?? parent)}\n`);
  }
  printItem(host, answer, { format, fields, columns, parent });
  const hasFailed = method.output === "WebhookDelivery" && stringOf(recordOf(answer)?.["state"]) !== "DELIVERED";
  return hasFailed ? exitCodes.refused : exitCodes.done;
}

function describeDone({ verb }: Method, isTried: boolean): string {
  const done: Readonly<Record<string, string>> = {
    create: "Created",
    update: "Updated",
    delete: "Deleted",
    undelete: "Restored",
  };
  if (isTried) return `Would ${kebab(verb)}:`;
  return done[verb] ?? `Done: ${kebab(verb)}`;
}

/** Makes the call of a method, of flags and of a file. */
function buildCall(
  { host, contract }: CommandCall,
  { context }: Connection,
  found: FoundMethod,
  { parsed, written }: Given,
): Call {
  const { method, segments } = found;
  const inOrg = segments[0] === "orgs" && segments[1] !== "-" ? segments[1] : undefined;
  const options: ReadingOptions = { contract, context: { ...context, org: inOrg ?? context.org }, now: host.now() };
  const resourceFields = method.resource === undefined ? [] : (contract.messages[method.resource] ?? []);
  const isOfResource = (field: Field): boolean => resourceFields.includes(field);
  const fields = fieldsOf(contract, method);
  const ofResource = readFieldValues(fields.filter(isOfResource), parsed, options, written);
  const ofRequest = readFieldValues(
    fields.filter((field) => !isOfResource(field)),
    parsed,
    options,
    method.body === "*" ? written : {},
  );
  const request: Record<string, unknown> = { ...ofRequest.values, ...readAsOf(parsed, host.now()) };
  if (isDryRun(parsed)) request["validate_only"] = true;
  const canRepeat = method.fields.includes("request_id");
  if (canRepeat && request["validate_only"] !== true) request["request_id"] ??= randomUUID();
  const common = {
    method: method.http,
    path: addressOf(method, segments),
    isRepeatable: method.http === "GET" || canRepeat,
  };
  if (method.body === "*") return { ...common, body: { ...written, ...request } };
  if (method.body === "") return { ...common, query: toQuery(request) };
  const body = { ...nameOfNew(contract, found, options), ...written, ...ofResource.values };
  const mask = method.verb === "update" ? maskOf(written, ofResource.mask, parsed, fields) : [];
  if (method.verb === "update" && mask.length === 0) {
    throw new CommandError(
      `nothing to change is given: name a field, such as --${flagOf(fields[0] ?? { name: "name" })}`,
      {
        next: `tenantry update ${segments.join("/")} --help`,
      },
    );
  }
  const query = toQuery(mask.length === 0 ? request : { ...request, update_mask: mask.join(",") });
  return { ...common, query, body };
}

/** Returns the fields that a name in the path of a creation sets. */
function nameOfNew(
  contract: Contract,
  { method, segments, newName }: FoundMethod,
  { context }: ReadingOptions,
): Record<string, unknown> {
  if (newName === undefined) return {};
  const namedBy = contract.namedBy[method.resource ?? ""];
  if (namedBy === undefined) return { name: newName };
  const [field, pattern] = namedBy;
  // The membership `orgs/acme/groups/sre/members/alice` is that of `orgs/acme/members/alice`.
  const names = [segments[1] ?? context.org ?? "", newName];
  return {
    [field]: `/${pattern
      .split("/")
      .map((each) => (each === "*" ? names.shift() : each))
      .join("/")}`,
  };
}

function maskOf(
  given: object,
  ofFlags: readonly string[],
  parsed: ParsedArguments,
  fields: readonly Field[],
): readonly string[] {
  const cleared = (parsed.values.get("clear") ?? []).map((text) => {
    const field = fields.find((each) => fold(each.name) === fold(String(text)) || flagOf(each) === text);
    if (field !== undefined) return field.name;
    const known = fields.filter((each) => !isSwitch(each)).map(flagOf);
    throw new CommandError(`--clear must be a field, got ${JSON.stringify(text)}${didYouMean(String(text), known)}`);
  });
  const written = Object.keys(given).filter((name) => fields.some((each) => each.name === name));
  const mask = new Set([...written, ...ofFlags, ...cleared]);
  // A map that is replaced as a whole has its keys in it.
  return [...mask].filter((name) => name !== "etag" && !(name.includes(".") && mask.has(name.replace(/\..*$/s, ""))));
}

function toQuery(values: Readonly<Record<string, unknown>>): NonNullable<Call["query"]> {
  const write = (value: unknown): string | readonly string[] =>
    Array.isArray(value) ? value.map(String) : String(value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]));
}
