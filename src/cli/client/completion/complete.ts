// Completes a line: commands and collections from the table of the API, names from the service.
import { type Flag, aliasOf, globalFlags } from "../arguments/flags.ts";
import { commands } from "../commands/all-commands.ts";
import { allCommands } from "../commands/help.ts";
import { flagsOf } from "../commands/verb-command.ts";
import type { Field } from "../contract/contract.ts";
import { fieldsOf } from "../contract/method-fields.ts";
import {
  addressOf,
  collectionsBelow,
  methodAt,
  methodsOfVerb,
  prefixesOf,
  splitPath,
} from "../contract/find-method.ts";
import { flagOf } from "../contract/names.ts";
import { type Connection, connect } from "../credentials/connect.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import type { CommandCall } from "../commands/command.ts";
import { isUnsafe } from "../output/escape-text.ts";

/** How long the service may take, in milliseconds: a person waits at each press of Tab. TENANTRY_COMPLETION_MS is another time. */
const usualTimeoutMs = 300;
const most = 200;
/** Shells expand other characters of what they are given. */
const safeName = /^@?[\w.:-]+$/;

/**
 * Returns what the last word could become.
 *
 * @param words of the line, after `tenantry`; the last one may be empty.
 */
export async function complete(call: CommandCall, words: readonly string[]): Promise<readonly string[]> {
  const word = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const command = findCommand(before);
  const flags = flagsOfCommand(call, command);
  const candidates = await candidatesFor(call, { word, before, command, flags });
  const found = candidates.filter((each) => each.startsWith(word) && !isUnsafe(each));
  return [...new Set(found)].slice(0, most);
}

interface Line {
  readonly word: string;
  readonly before: readonly string[];
  /** Undefined while none is there. */
  readonly command: string | undefined;
  readonly flags: readonly Flag[];
}

async function candidatesFor(call: CommandCall, line: Line): Promise<readonly string[]> {
  const { word, before, command, flags } = line;
  const last = before.at(-1) ?? "";
  const flag = flags.find(
    ({ name, short, value }) =>
      value !== undefined && (last === `--${name}` || (short !== undefined && last === `-${short}`)),
  );
  if (flag !== undefined) return valuesOf(call, line, flag);
  if (word.startsWith("-")) return flags.map(({ name }) => `--${name}`);
  if (command === undefined) return allCommands(call.contract).toSorted();
  return completePath(call, line, word);
}

/** Returns the first word that is no flag, nor the value of one. */
function findCommand(words: readonly string[]): string | undefined {
  return words.find((each, index) => {
    const previous = words[index - 1] ?? "";
    const isValue = globalFlags.some(
      ({ name, short, value }) => value !== undefined && (previous === `--${name}` || previous === `-${short ?? ""}`),
    );
    return !each.startsWith("-") && !isValue;
  });
}

function flagsOfCommand({ contract }: CommandCall, command: string | undefined): readonly Flag[] {
  if (command === undefined) return globalFlags;
  const own = commands.find(({ name }) => name === command);
  if (own !== undefined) return [...own.flags, ...globalFlags];
  const methods = methodsOfVerb(contract, command);
  return [...methods.flatMap((method) => flagsOf(contract, method)), ...globalFlags];
}

async function valuesOf(call: CommandCall, line: Line, { name }: Flag): Promise<readonly string[]> {
  if (name === "org") return namesIn(call, line, ["orgs"]);
  if (name === "project") {
    const org = valueOf(line.before, "org");
    return namesIn(call, line, ["orgs", org ?? "", "projects"]);
  }
  if (name === "output") return ["table", "json", "yaml", "name", "csv"];
  if (name === "profile") return [...(await call.store.read()).profiles.keys()];
  const fields = methodsOfVerb(call.contract, line.command ?? "").flatMap((method) => fieldsOf(call.contract, method));
  const field = fields.find((each) => flagOf(each) === name || aliasOf(each) === name);
  if (field === undefined) return [];
  if (typeof field.type !== "string") return field.type;
  return isPath(field) ? completePath(call, line, line.word) : [];
}

function isPath({ name }: Field): boolean {
  return /_paths?$/.test(name);
}

function valueOf(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(`--${flag}`);
  return at === -1 ? words.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3) : words[at + 1];
}

/** Completes the last segment of a path: a collection, or a name in one. */
async function completePath(call: CommandCall, line: Line, word: string): Promise<readonly string[]> {
  const connection = await connectFor(call, line);
  const start = word.slice(0, word.lastIndexOf("/") + 1);
  const typed = splitPath(start);
  const found: string[] = [];
  for (const prefix of prefixesOf(word, connection?.context ?? { org: undefined, project: undefined })) {
    const segments = [...prefix, ...typed];
    found.push(...collectionsBelow(call.contract, segments).map((each) => `${start}${each}`));
    if (connection === undefined) continue;
    found.push(...(await listNames(call, connection, segments)).map((each) => `${start}${each}`));
  }
  return [...new Set(found)];
}

async function namesIn(call: CommandCall, line: Line, segments: readonly string[]): Promise<readonly string[]> {
  const connection = await connectFor(call, line);
  const known = segments.map((each) => (each === "" ? (connection?.context.org ?? "-") : each));
  return connection === undefined ? [] : listNames(call, connection, known);
}

function connectFor({ host, store }: CommandCall, { before }: Line): Promise<Connection | undefined> {
  const [server, profile, org, project] = ["server", "profile", "org", "project"].map((name) => valueOf(before, name));
  const flags = { server, profile, org, project, plainHttp: before.includes("--plain-http") };
  const timeoutMs = Number(host.env["TENANTRY_COMPLETION_MS"]) || usualTimeoutMs;
  // A refresh would take longer, and must not be cut off.
  return connect(host, store, flags, { timeoutMs, canRefresh: false }).catch(() => undefined);
}

/** Returns the names in a collection, none if it is no such; those that have none are written with their ids. */
async function listNames(
  { contract }: CommandCall,
  { service }: Connection,
  segments: readonly string[],
): Promise<readonly string[]> {
  const found = methodAt(contract, "list", segments);
  if (found?.method.items === undefined) return [];
  const path = addressOf(found.method, found.segments);
  const query = { page_size: String(most) };
  const answer = await service.call({ method: "GET", path, query }).catch(() => undefined);
  const items = recordOf(answer)?.[found.method.items];
  if (!Array.isArray(items)) return [];
  const names = items.map((item) => {
    const { name, id } = recordOf(item) ?? {};
    return stringOf(name) ?? `@${stringOf(id) ?? ""}`;
  });
  return names.filter((each) => safeName.test(each));
}
