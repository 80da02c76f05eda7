// Questions about access: may somebody do something, why, who may, and what may somebody.
import { asOfFlag, readAsOf } from "../arguments/as-of.ts";
import { absolutePath, withCollection } from "../arguments/field-values.ts";
import { type Flag, type ParsedArguments, columnsFlag, limitFlag, limitOf, single } from "../arguments/flags.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import type { Connection } from "../credentials/connect.ts";
import { addressOf, methodAt, splitPath } from "../contract/find-method.ts";
import { ServiceCallError, recordOf, stringOf } from "../http/service-error.ts";
import { escapeJson, escapeText } from "../output/escape-text.ts";
import { writeExplanation } from "../output/write-explanation.ts";
import { printItem } from "../output/print-items.ts";
import { type Command, type CommandCall, connectTo, formatOf, refuseWords } from "./command.ts";
import { explainAccessFailure } from "./explain-failure.ts";
import { printList } from "./print-list.ts";

const contextFlag: Flag = { name: "context", value: "JSON", help: "The attributes that conditions see as context" };
const kindFlag: Flag = {
  name: "kind",
  value: "PROJECT|RESOURCE",
  help: "What to list: projects, or the resources in them",
};

/** Returns the path of a subject; `me` is the caller. */
async function subjectOf(call: CommandCall, connection: Connection, text: string): Promise<string> {
  if (text !== "me") {
    const path = withCollection("subject_path", text);
    return absolutePath(path, { contract: call.contract, context: connection.context });
  }
  const me = recordOf(await connection.service.call({ method: "GET", path: "/iam/v1alpha/me", isRepeatable: true }));
  return stringOf(recordOf(me?.["member"])?.["path"]) ?? text;
}

interface Question {
  readonly connection: Connection;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Reads `SUBJECT PERMISSION [RESOURCE]`. Without a resource, the question is about the project or org of the context. */
async function readQuestion(call: CommandCall, parsed: ParsedArguments, command: string): Promise<Question> {
  const [subject, permission, resource, ...others] = parsed.positionals;
  if (subject === undefined || permission === undefined || others.length > 0) {
    throw new CommandError(`${command} needs a subject, a permission and, if it is not your org, a resource`, {
      next: `tenantry ${command} me iam.members.list`,
    });
  }
  const connection = await connectTo(call, parsed);
  const body = {
    subject_path: await subjectOf(call, connection, subject),
    permission,
    resource_path: resourceOf(call, connection, resource),
    ...contextOf(parsed),
    ...readAsOf(parsed, call.host.now()),
  };
  return { connection, body };
}

function resourceOf({ contract }: CommandCall, { context }: Connection, resource: string | undefined): string {
  if (resource !== undefined) return absolutePath(resource, { contract, context });
  const { org, project } = context;
  if (org === undefined) return "";
  return project === undefined ? `/orgs/${org}` : `/orgs/${org}/projects/${project}`;
}

function contextOf(parsed: ParsedArguments): { readonly context?: unknown } {
  const text = single(parsed, "context");
  if (text === undefined) return {};
  try {
    return { context: JSON.parse(text) as unknown };
  } catch (error) {
    throw new CommandError(`--context must be JSON, such as '{"ip": "192.0.2.7"}', got ${JSON.stringify(text)}`, {
      cause: error,
    });
  }
}

async function ask({ connection, body }: Question, verb: string): Promise<unknown> {
  const call = { method: "POST", path: `/iam/v1alpha/access:${verb}`, body, isRepeatable: true };
  try {
    return await connection.service.call(call);
  } catch (error) {
    throw explainAccessFailure(error, stringOf(body["resource_path"]) ?? "");
  }
}

/**
 * Says so if what the answer is no about does not exist now, which is a typing error in most cases. The service does not tell them apart, so
 * that nobody finds out by its answers what exists: it is told only to who may read what the question names.
 */
async function noteMissing({ host, contract }: CommandCall, { connection, body }: Question): Promise<void> {
  if (body["as_of_revision"] !== undefined || body["as_of_time"] !== undefined) return;
  for (const name of ["subject_path", "resource_path"]) {
    const path = stringOf(body[name]) ?? "";
    const found = methodAt(contract, "get", splitPath(path));
    if (found === undefined || found.segments.includes("-")) continue;
    const call = { method: "GET", path: addressOf(found.method, found.segments), isRepeatable: true };
    const error: unknown = await connection.service.call(call).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (!(error instanceof ServiceCallError) || error.reason !== "RESOURCE_NOT_FOUND") continue;
    const note = `there is no ${path}`;
    host.warn(host.isAttended ? `note: ${escapeText(note)}\n` : `${escapeJson(JSON.stringify({ note }))}\n`);
  }
}

const check: Command = {
  name: "check",
  usage: "SUBJECT PERMISSION [RESOURCE]",
  help: "Say whether a member or group may do something; the exit code is 1 for no, which is also the answer about an org or a project that does not exist, and 64 for a wrong question",
  flags: [contextFlag, asOfFlag],
  async run(call, parsed) {
    const question = await readQuestion(call, parsed, "check");
    const answer = await ask(question, "check");
    const isAllowed = recordOf(answer)?.["allowed"] === true;
    const format = formatOf(call, parsed);
    if (format === "table") call.host.print(isAllowed ? "yes\n" : "no\n");
    else printItem(call.host, answer, { format, fields: [], columns: undefined, parent: "" });
    if (!isAllowed) await noteMissing(call, question);
    return isAllowed ? exitCodes.done : exitCodes.refused;
  },
};

const explain: Command = {
  name: "explain",
  usage: "SUBJECT PERMISSION [RESOURCE]",
  help: "Say why somebody may do something, or what is missing and who can grant it",
  flags: [contextFlag, asOfFlag],
  async run(call, parsed) {
    const question = await readQuestion(call, parsed, "explain");
    const { body } = question;
    const answer = await ask(question, "explain");
    const format = formatOf(call, parsed);
    if (format === "table") call.host.print(writeExplanation(body, recordOf(answer) ?? {}, call.host.now()));
    else printItem(call.host, answer, { format, fields: [], columns: undefined, parent: "" });
    return exitCodes.done;
  },
};

async function list(
  call: CommandCall,
  parsed: ParsedArguments,
  { connection, body }: Question,
  [verb, items]: readonly [verb: string, items: string],
): Promise<typeof exitCodes.done> {
  const method = { items, body: "*" };
  const request = { method: "POST", path: `/iam/v1alpha/access:${verb}`, body };
  const options = { format: formatOf(call, parsed), fields: [], columns: undefined, parent: "" };
  const limit = limitOf(parsed);
  try {
    await printList(call.host, connection.service, { request, method, limit }, options);
  } catch (error) {
    throw explainAccessFailure(error, stringOf(body["resource_path"] ?? body["parent_path"]) ?? "");
  }
  return exitCodes.done;
}

const whoMay: Command = {
  name: "who-may",
  usage: "PERMISSION [RESOURCE]",
  help: "List the members of an org who may do something in it; members of other orgs are not listed",
  flags: [contextFlag, asOfFlag, limitFlag],
  async run(call, parsed) {
    const [permission, resource, ...others] = parsed.positionals;
    if (permission === undefined || others.length > 0) {
      throw new CommandError("who-may needs a permission and, if it is not your org, a resource", {
        next: "tenantry who-may iam.members.list orgs/acme",
      });
    }
    const connection = await connectTo(call, parsed);
    const body = {
      permission,
      resource_path: resourceOf(call, connection, resource),
      ...contextOf(parsed),
      ...readAsOf(parsed, call.host.now()),
    };
    const listed = await list(call, parsed, { connection, body }, ["listSubjects", "subject_paths"]);
    if (call.host.isAttended) call.host.warn("Members of other orgs, who may have access as well, are not listed.\n");
    return listed;
  },
};

const whatMay: Command = {
  name: "what-may",
  usage: "SUBJECT PERMISSION",
  help: "List the projects, or the resources, on which somebody may do something",
  flags: [contextFlag, asOfFlag, kindFlag, limitFlag],
  async run(call, parsed) {
    const [subject, permission, ...others] = parsed.positionals;
    if (subject === undefined || permission === undefined || others.length > 0) {
      throw new CommandError("what-may needs a subject and a permission", {
        next: "tenantry what-may me resources.operations.list",
      });
    }
    const connection = await connectTo(call, parsed);
    const subjectPath = await subjectOf(call, connection, subject);
    const { org = subjectPath.split("/")[2] ?? "" } = connection.context;
    const kind = single(parsed, "kind")?.toUpperCase();
    const body = {
      subject_path: subjectPath,
      permission,
      parent_path: `/orgs/${org}`,
      ...(kind && { kind }),
      ...contextOf(parsed),
      ...readAsOf(parsed, call.host.now()),
    };
    return list(call, parsed, { connection, body }, ["listResources", "resource_paths"]);
  },
};

const whoami: Command = {
  name: "whoami",
  usage: "",
  help: "Say as which member you call, where, and with what",
  flags: [columnsFlag],
  async run(call, parsed) {
    refuseWords(parsed, 0, { message: "whoami takes no words: it is about you", next: "tenantry whoami" });
    const { service, source } = await connectTo(call, parsed);
    const me = recordOf(await service.call({ method: "GET", path: "/iam/v1alpha/me", isRepeatable: true }));
    const format = formatOf(call, parsed);
    if (format !== "table") {
      printItem(call.host, me, { format, fields: [], columns: single(parsed, "columns"), parent: "" });
      return exitCodes.done;
    }
    const [member, org, credential] = ["member", "org", "credential"].map((name) => recordOf(me?.[name]) ?? {});
    const named = (each: Readonly<Record<string, unknown>> | undefined): string => {
      const [path, name] = [stringOf(each?.["path"]) ?? "", stringOf(each?.["display_name"]) ?? ""];
      return escapeText(name === "" || path.endsWith(`/${name}`) ? path : `${path} (${name})`);
    };
    const kind = (stringOf(credential?.["kind"]) ?? "").toLowerCase().replaceAll("_", " ");
    call.host.print(
      `member:   ${named(member)}\norg:      ${named(org)}\nservice:  ${service.url}\nwith:     ${escapeText(kind)} of ${source}\n`,
    );
    return exitCodes.done;
  },
};

export const accessCommands: readonly Command[] = [check, explain, whoMay, whatMay, whoami];
