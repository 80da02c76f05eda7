// Help, which fits a screen of 24 lines where it can.
import { type Flag, distinct, globalFlags } from "../arguments/flags.ts";
import { fold } from "../arguments/nearest.ts";
import type { Contract, Method } from "../contract/contract.ts";
import { fieldsOf } from "../contract/method-fields.ts";
import { methodsOfVerb, verbsOf } from "../contract/find-method.ts";
import { flagOf, kebab } from "../contract/names.ts";
import { commands, serviceCommands } from "./all-commands.ts";
import type { Command } from "./command.ts";
import { helpColumns } from "./help-lines.ts";
import { helpTopics } from "./help-topics.ts";
import { flagsOf } from "./verb-command.ts";

/** Returns the help of `tenantry --help`. */
export function mainHelp({ methods }: Contract): string {
  const lists = methods.filter(({ verb }) => verb === "list").map(({ path }) => path.split("/").at(-1) ?? "");
  const usual = ["get", "list", "create", "update", "delete", "run", "changes"];
  return `Manages organisations, their projects, members and groups, and access.

  tenantry login --server URL               sign in with the browser
  tenantry create orgs/acme/members/dora --display-name "Dora M."
  tenantry create orgs/acme/roleBindings/dora-edits --role-path editor \\
    --subject-path dora
  tenantry explain members/dora iam.groups.update --org acme

Commands: ${wrap([...usual, ...commands.map(({ name }) => name)], 10)}
Verbs:    ${wrap(ownVerbs(methods), 10, 3)}
Paths:    COLLECTION/NAME/..., with names, @ID, or - for all, below --org
          ${wrap([...new Set(lists)].toSorted(), 10, 4)}
Service:  ${wrap(Object.keys(serviceCommands), 10)}
Flags:    --org, --project, -o table|json|yaml|name|csv, --profile, --yes

See tenantry create members --help, tenantry help ${[...helpTopics.keys()].join("|")}
`;
}

/** Returns the verbs that only some collections have. */
function ownVerbs(methods: readonly Method[]): readonly string[] {
  const standard = new Set(["get", "list", "create", "update", "delete", ...commands.map(({ name }) => name)]);
  const all = methods
    .filter(({ path }) => path.split("/").length > 1 && !path.startsWith("services/*/"))
    .map(({ verb }) => kebab(verb));
  return [...new Set(all)].filter((verb) => !standard.has(verb) && !verb.startsWith("batch-")).toSorted();
}

/** Writes words in lines of 80 columns, all but the first indented; what needs more lines than there may be is left out. */
function wrap(words: readonly string[], indent: number, most = Infinity): string {
  const lines = [""];
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word}, `;
    const line = lines.at(-1) ?? "";
    const isLast = lines.length === most;
    // Room for what says that there are more.
    if (indent + line.length + text.length <= (isLast ? 75 : 80)) lines[lines.length - 1] = line + text;
    else if (isLast) {
      lines[lines.length - 1] = `${line}...`;
      break;
    } else lines.push(text);
  }
  return lines.map((line) => line.trimEnd()).join(`\n${" ".repeat(indent)}`);
}

/** Returns the help of a command that is no verb of the API. */
export function commandHelp({ name, usage, help, flags }: Command, columns: number): string {
  return `${help}.\n\n  tenantry ${name}${usage === "" ? "" : ` ${usage}`}\n\n${flagLines(distinct([...flags, ...globalFlags]), columns)}`;
}

/**
 * Returns the help of a verb.
 *
 * @param path whose flags to list, such as `orgs/acme/members`, or a collection alone, `members`; undefined to list the paths.
 */
export function verbHelp(contract: Contract, verb: string, path: string | undefined, columns: number): string {
  const methods = methodsOfVerb(contract, verb);
  const meant = path === undefined ? methods : methods.filter((method) => isMeant(method, path));
  // `members` are those of an org, rather than those of a group.
  const length = Math.min(...meant.map((each) => each.path.split("/").length));
  const isWord = path !== undefined && !path.replace(/^\//, "").includes("/");
  const shown = isWord ? meant.filter((each) => each.path.split("/").length === length) : meant;
  const [method, ...others] = shown.length === 0 ? methods : shown;
  if (method === undefined) return "";
  const isOne = others.every((each) => each.name === method.name);
  const uses = [
    ...new Set((shown.length === 0 ? methods : shown).map((each) => `  tenantry ${verb} ${usageOf(each)}`)),
  ];
  if (!isOne) {
    const example = methods.find(({ path: each }) => each.endsWith("members")) ?? method;
    const name = example.path.split("/").findLast((each) => each !== "*") ?? "";
    return `${uses.join("\n")}\n\nWhat each takes: tenantry ${verb} ${name} --help\n\n${flagLines(globalFlags, columns)}`;
  }
  return `${method.help}.\n\n${uses.join("\n")}\n\n${flagLines(requiredFirst(contract, method), columns)}
Also the flags of all commands: ${globalFlags.map(({ name }) => `--${name}`).join(", ")}.\n`;
}

function requiredFirst(contract: Contract, method: Method): readonly Flag[] {
  const required = new Set(
    fieldsOf(contract, method)
      .filter(({ mode }) => mode === "required")
      .map(flagOf),
  );
  const flags = distinct(flagsOf(contract, method));
  const isUpdate = method.verb === "update";
  return flags
    .map((flag) => (required.has(flag.name) && !isUpdate ? { ...flag, help: `${flag.help} (required)` } : flag))
    .toSorted((one, other) => Number(required.has(other.name)) - Number(required.has(one.name)));
}

function isMeant({ path }: Method, given: string): boolean {
  const segments = given.replace(/^\//, "").split("/");
  const pattern = path.split("/");
  const collection = pattern.findLast((each) => each !== "*") ?? "";
  if (segments.length === 1) return fold(collection) === fold(segments[0] ?? "");
  // With the name of something in a collection, or without.
  const isCollection = pattern.at(-1) !== "*";
  const isCollectionPath =
    segments.length === pattern.length || (isCollection && segments.length === pattern.length + 1);
  const start = pattern.length - segments.length;
  const matchesAt = (offset: number): boolean =>
    pattern
      .slice(Math.max(0, offset))
      .every((each, index) => each === "*" || fold(each) === fold(segments[index] ?? ""));
  return (isCollectionPath && matchesAt(0)) || (start > 0 && matchesAt(start));
}

function usageOf({ path, verb }: Method): string {
  const segments = path.split("/");
  const names = segments.map((each, index) => (each === "*" ? nounOf(segments[index - 1] ?? "") : each));
  return `${names.join("/")}${verb === "create" ? "/NAME" : ""}`;
}

function nounOf(collection: string): string {
  return kebab(collection).replace(/ies$/, "y").replace(/s$/, "").toUpperCase();
}

function flagLines(flags: readonly Flag[], columns: number): string {
  const lines = flags.map(({ name, short, value, help }) => ({
    title: `  ${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    help,
  }));
  return helpColumns(lines, columns);
}

/** Returns all that can stand as the first word. */
export function allCommands(contract: Contract): readonly string[] {
  return [
    ...new Set([
      ...verbsOf(contract),
      ...commands.map(({ name }) => name),
      "changes",
      "run",
      "help",
      ...Object.keys(serviceCommands),
    ]),
  ];
}
