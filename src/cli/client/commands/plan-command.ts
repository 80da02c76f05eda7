// Plans and applies the file of an org.
import { randomUUID } from "node:crypto";
import { findSecrets } from "../arguments/file-secrets.ts";
import { type Flag, isSet, type ParsedArguments, single } from "../arguments/flags.ts";
import { type NamePlace, createPlaceNames } from "../arguments/file-places.ts";
import { parseFields, readSource } from "../arguments/read-fields.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addressOf, findMethod } from "../contract/find-method.ts";
import type { Connection } from "../credentials/connect.ts";
import { ServiceCallError, recordOf, stringOf } from "../http/service-error.ts";
import { writeJson } from "../output/print-items.ts";
import { type PlanLines, readPlan, writePlan } from "../output/write-plan.ts";
import { type Command, type CommandCall, connectTo, refuseWords } from "./command.ts";
import { confirm } from "./confirm-removal.ts";
import { explainFailure } from "./explain-failure.ts";
import { planFormatFlag, planFormatOf, showPlan, withoutOutput } from "./plan-format.ts";

const sharedFlags: readonly Flag[] = [
  {
    name: "prune",
    value: "WHICH",
    help: "Removes what FILE lacks: none, managed (by --source), or all",
  },
  {
    name: "source",
    value: "ADDRESS@VERSION",
    help: "Where FILE is kept, and its commit: that manages what it has",
  },
  {
    name: "max-removal-percent",
    value: "NUMBER",
    help: "How much of each kind may be removed, if more than one; 10 if left out",
  },
];

const planFlags: readonly Flag[] = [
  ...sharedFlags,
  planFormatFlag,
  {
    name: "author",
    value: "MEMBER",
    help: "Who will apply it, and is not removed by it; you if left out",
  },
];

/** A file, and how it is sent. */
interface Planned {
  readonly org: string;
  /** Returns what errors call a place in the file. */
  readonly nameOf: NamePlace;
  /** Returns the request with the secrets of the file. */
  readonly readRequest: () => Promise<Readonly<Record<string, unknown>>>;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly plan: PlanLines;
  /** What to know of secrets in the file; empty if there is nothing. */
  readonly note: string;
}

const planFile: Command = {
  name: "plan",
  usage: "FILE",
  help: "Show what would change in an org to match a file, as tenantry export ORG writes them; the exit code is 2 if anything would. What a file can have: tenantry help file",
  flags: planFlags,
  async run(call, parsed) {
    const format = planFormatOf(call, parsed);
    const connection = await connectTo(call, withoutOutput(parsed));
    const author = single(parsed, "author");
    const { answer, plan, note } = await planOf(call, parsed, connection, author);
    if (call.host.isAttended) call.host.warn(note);
    call.host.print(showPlan(answer, plan, format));
    if (plan.obstacles.length > 0) return exitCodes.refused;
    return plan.changes.length > 0 ? exitCodes.differs : exitCodes.done;
  },
};

const applyFile: Command = {
  name: "apply",
  usage: "FILE",
  help: "Change an org to match a file, whole or not at all; shows the changes and asks before. What a file can have: tenantry help file",
  flags: sharedFlags,
  async run(call, parsed) {
    const connection = await connectTo(call, parsed);
    const planned = await planOf(call, parsed, connection);
    const { org, readRequest, answer, plan, note } = planned;
    if (call.host.isAttended) call.host.warn(`${writePlan(plan, "table")}${note}`);
    if (plan.obstacles.length > 0)
      throw new CommandError(plan.obstacles.join("; "), { exitCode: exitCodes.refused, reason: "STATE_FORBIDS" });
    if (plan.changes.length === 0 && plan.adoptedCount === 0) return exitCodes.done;
    const request = await readRequest();
    if (!isSet(parsed, "yes"))
      await confirm(call.host, connection, `apply this to ${org}`, `tenantry apply ${parsed.positionals[0] ?? "FILE"}`);
    const body = { ...request, plan: answer["plan"], request_id: randomUUID() };
    const applied = await send(call, connection, "apply", planned, body);
    if (call.host.isTerminal) call.host.warn("Applied.\n");
    else call.host.print(writeJson(applied));
    return exitCodes.done;
  },
};

async function planOf(
  call: CommandCall,
  parsed: ParsedArguments,
  connection: Connection,
  author?: string,
): Promise<Planned> {
  const [name] = parsed.positionals;
  if (name === undefined)
    throw new CommandError("plan and apply need a file; - is standard input", { next: "tenantry plan FILE" });
  refuseWords(parsed, 1, { message: "plan and apply take one file", next: `tenantry plan ${name}` });
  const source = await readSource(call.host, name);
  const file = parseFields(source);
  const nameOf = createPlaceNames(source);
  const org = stringOf(file["org"])?.toLowerCase();
  if (org === undefined || org === "" || org.includes("/"))
    throw new CommandError(`${name} has no org: its first line could be org: acme`, { next: "tenantry export ORG" });
  const { toPlan, readAll, withSecret } = findSecrets(call.host, file, nameOf);
  const options = optionsOf(parsed);
  const as =
    author === undefined ? {} : { author_path: author.includes("/") ? author : `/orgs/${org}/members/${author}` };
  const answer = await send(call, connection, "plan", { org, nameOf }, { org_file: toPlan, ...options, ...as });
  const readRequest = async () => ({ org_file: await readAll(), ...options });
  const read = readPlan(org, answer);
  const plan = { ...read, obstacles: read.obstacles.map((each) => withLine(each, nameOf)) };
  return { org, nameOf, readRequest, answer, plan, note: noteOnSecrets(plan, withSecret) };
}

function noteOnSecrets({ org, changes }: PlanLines, withSecret: readonly string[]): string {
  const created = new Set(changes.flatMap(({ action, path }) => (action === "CREATE" ? [path] : [])));
  const kept = withSecret.find((path) => !created.has(path));
  if (kept === undefined) return "";
  return `A client_secret is used where its provider is created; to set another, send it as client_secret to tenantry update orgs/${org}/${kept} -f -\n`;
}

/** Returns an obstacle with the line of the place that it begins with, if any: `quota["cpu_cores"]: the caller may not raise it`. */
function withLine(obstacle: string, nameOf: Planned["nameOf"]): string {
  const [place] = /^[a-z_]+(?:\.[a-z_]+|\[\d+\]|\["[^"\\]*"\])+(?=: )/.exec(obstacle) ?? [];
  return place === undefined ? obstacle : `${nameOf(place)}${obstacle.slice(place.length)}`;
}

/** Calls a method with the file. Errors name places in it with their lines: they are no flags. */
async function send(
  { contract }: CommandCall,
  { service, context }: Connection,
  verb: "plan" | "apply",
  { org, nameOf }: Pick<Planned, "org" | "nameOf">,
  body: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const found = findMethod(contract, verb, `/orgs/${org}`, context);
  try {
    const path = addressOf(found.method, found.segments);
    return recordOf(await service.call({ method: "POST", path, body, isRepeatable: true })) ?? {};
  } catch (error) {
    if (!(error instanceof ServiceCallError) || error.violations.length === 0)
      throw explainFailure(error, { contract, verb, found });
    throw misplaced(error, org, nameOf);
  }
}

/** Returns the error with the lines of the places that it names, also where nobody looks on: then, it is in the log of a workflow. */
function misplaced(error: ServiceCallError, org: string, nameOf: Planned["nameOf"]): CommandError {
  const { violations, exitCode, reason, body } = error;
  const problems = violations.map(({ field, description }) => {
    const [, place] = /^org_file(?:\.(.*))?$/s.exec(field) ?? [];
    if (!field.startsWith("org_file")) return `${field}: ${description}`;
    const [, key] = /^has the unknown key "([^"\\]*)"/.exec(description) ?? [];
    return `${nameOf(place ?? "", key)}: ${description}`;
  });
  const sent = recordOf(recordOf(body)?.["error"]);
  const message = problems.join("; ");
  return new CommandError(problems.length === 1 ? message : `the file of ${org} has ${problems.length} problems`, {
    exitCode,
    reason,
    problems: problems.length === 1 ? [] : problems,
    body: { error: { ...sent, message } },
    cause: error,
  });
}

function optionsOf(parsed: ParsedArguments): Readonly<Record<string, unknown>> {
  const prune = single(parsed, "prune");
  if (prune !== undefined && !/^(none|managed|all)$/i.test(prune))
    throw new CommandError(`--prune must be none, managed or all, got ${JSON.stringify(prune)}`);
  const percent = single(parsed, "max-removal-percent");
  if (percent !== undefined && !/^\d{1,3}$/.test(percent))
    throw new CommandError(`--max-removal-percent must be a number from 0 to 100, got ${JSON.stringify(percent)}`);
  const source = single(parsed, "source");
  if (prune?.toLowerCase() === "managed" && source === undefined)
    throw new CommandError("--prune managed removes what the source manages, so it needs --source ADDRESS@VERSION");
  return {
    ...(source !== undefined && { source: sourceOf(source) }),
    ...(prune !== undefined && { prune: prune.toUpperCase() }),
    ...(percent !== undefined && { max_removal_percent: Number(percent) }),
  };
}

/** `https://github.com/acme/iam@4f3c2a1`: a version is behind the last @. */
function sourceOf(text: string): Readonly<Record<string, string>> {
  const at = text.lastIndexOf("@");
  const [address, version] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  if (address === "")
    throw new CommandError(
      `--source must be ADDRESS@VERSION, such as https://github.com/acme/iam@4f3c2a1, got ${JSON.stringify(text)}`,
    );
  return { address, version };
}

export const planCommands: readonly Command[] = [planFile, applyFile];
