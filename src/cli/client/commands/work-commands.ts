// What is done with operations and the log, and calls that have no command.
import { setTimeout as wait } from "node:timers/promises";
import { type Flag, columnsFlag, fileFlag, single } from "../arguments/flags.ts";
import { readFields } from "../arguments/read-fields.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addressOf, findMethod } from "../contract/find-method.ts";
import { ServiceCallError, recordOf, stringOf } from "../http/service-error.ts";
import type { Service } from "../http/service.ts";
import type { Host } from "../host.ts";
import { escapeJson, escapeText } from "../output/escape-text.ts";
import { printItem, writeJson } from "../output/print-items.ts";
import { type Command, connectTo, formatOf, refuseWords } from "./command.ts";
import { explainFailure } from "./explain-failure.ts";
import { exitCodeOf, waitForEnd } from "./operations.ts";

const waitFor: Command = {
  name: "wait",
  usage: "OPERATION",
  help: "Wait for the end of an operation, with its progress; the exit code is 1 if it failed",
  flags: [columnsFlag],
  async run(call, parsed) {
    const [path] = parsed.positionals;
    if (path === undefined)
      throw new CommandError("wait needs the path of an operation", {
        next: "tenantry list orgs/ORG/projects/PROJECT/operations",
      });
    refuseWords(parsed, 1, { message: "wait takes one operation", next: `tenantry wait ${path}` });
    const { service, context } = await connectTo(call, parsed);
    const found = findMethod(call.contract, "wait", path, context);
    const address = addressOf({ ...found.method, suffix: "" }, found.segments);
    try {
      const operation = recordOf(await service.call({ method: "GET", path: address, isRepeatable: true })) ?? {};
      const ended = await waitForEnd(call.host, service, operation, stringOf(operation["path"]) ?? "");
      const fields = call.contract.messages["Operation"] ?? [];
      printItem(call.host, ended, {
        format: formatOf(call, parsed),
        fields,
        columns: single(parsed, "columns"),
        parent: "",
      });
      return exitCodeOf(ended);
    } catch (error) {
      throw explainFailure(error, { contract: call.contract, verb: "wait", found });
    }
  },
};

const afterFlag: Flag = {
  name: "after-revision",
  value: "REVISION",
  help: "Begin after this revision; now if left out",
};

const watch: Command = {
  name: "watch",
  usage: "[ORG]",
  help: "Print changes of an org as they are made; goes on after interruptions",
  flags: [afterFlag],
  async run(call, parsed) {
    refuseWords(parsed, 1, {
      message: "watch takes one org",
      next: `tenantry watch ${parsed.positionals[0] ?? "ORG"}`,
    });
    const { service, context } = await connectTo(call, parsed);
    const path = parsed.positionals[0] ?? (context.org === undefined ? undefined : `orgs/${context.org}`);
    if (path === undefined) throw new CommandError("watch needs an org", { next: "tenantry watch orgs/ORG" });
    const inOrg = path.replace(/\/$/, "");
    const isOrg = inOrg.replace(/^\//, "").startsWith("orgs/");
    const found = findMethod(call.contract, "watch", `${isOrg ? inOrg : `orgs/${inOrg}`}/changes`, context);
    const isTable = formatOf(call, parsed) === "table";
    let revision = single(parsed, "after-revision");
    const show = (change: Readonly<Record<string, unknown>>): void => {
      call.host.print(isTable ? `${writeChange(change)}\n` : `${escapeJson(JSON.stringify(change))}\n`);
    };
    try {
      await follow(call.host, service, addressOf(found.method, found.segments), revision, (message) => {
        revision = stringOf(message["resume_revision"]) ?? revision;
        const change = recordOf(message["change"]);
        if (change !== undefined) show(change);
      });
    } catch (error) {
      if (call.host.signal.aborted && revision !== undefined && call.host.isAttended) {
        call.host.warn(
          `To go on: tenantry watch ${found.segments.slice(0, 2).join("/")} --after-revision ${escapeText(revision)}\n`,
        );
      }
      throw explainFailure(error, { contract: call.contract, verb: "watch", found });
    }
    return exitCodes.done;
  },
};

/** The longest wait before a stream that has ended is opened again, in milliseconds. */
const longestPauseMs = 10_000;

/** Reads a stream, and opens it again where it has ended, until that does not help. */
async function follow(
  host: Host,
  service: Service,
  path: string,
  after: string | undefined,
  onMessage: (message: Readonly<Record<string, unknown>>) => void,
): Promise<never> {
  let revision = after;
  for (let failures = 0; ; failures++) {
    let isFollowing = false;
    try {
      const query = revision === undefined ? {} : { after_revision: revision };
      for await (const message of service.stream({ method: "GET", path, query })) {
        failures = 0;
        isFollowing = true;
        const record = recordOf(message) ?? {};
        revision = stringOf(record["resume_revision"]) ?? revision;
        onMessage(record);
      }
    } catch (error) {
      // A stream ends with its access token, after which there is another one.
      const hasEnded = isFollowing && error instanceof ServiceCallError && error.status === 401;
      const isPassing = !(error instanceof CommandError) || error.exitCode === exitCodes.tryAgain || hasEnded;
      if (host.signal.aborted || revision === undefined || !isPassing) throw error;
    }
    await wait(Math.min(longestPauseMs, 100 * 2 ** failures), undefined, { signal: host.signal });
  }
}

/** Writes a change in one line: when, who, what, and on what. */
function writeChange(change: Readonly<Record<string, unknown>>): string {
  const texts = ["time", "actor_path", "type", "resource_path"].map((name) => stringOf(change[name]) ?? "-");
  const fields = Array.isArray(change["changed_fields"]) ? change["changed_fields"].map(String).join(",") : "";
  return escapeText([...texts, ...(fields === "" ? [] : [fields])].join("  "));
}

const queryFlag: Flag = { name: "query", value: "NAME=VALUE", help: "A parameter of the address" };

const api: Command = {
  name: "api",
  usage: "METHOD PATH",
  help: "Make any call, and print its answer: tenantry api GET /iam/v1alpha/me",
  flags: [queryFlag, fileFlag],
  async run(call, parsed) {
    const [method, path, ...others] = parsed.positionals;
    if (method === undefined || path === undefined || others.length > 0 || !/^[A-Za-z]+$/.test(method)) {
      throw new CommandError("api needs an HTTP method and a path", { next: "tenantry api GET /iam/v1alpha/me" });
    }
    const { service } = await connectTo(call, parsed);
    const address = path.startsWith("/") ? path : `/iam/v1alpha/${path}`;
    const url = URL.canParse(service.url + address) ? new URL(service.url + address) : undefined;
    if (url === undefined || url.origin !== new URL(service.url).origin)
      throw new CommandError(`${JSON.stringify(path)} is no path`);
    const query = new Map<string, string[]>();
    for (const each of parsed.values.get("query") ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(String(each)) ?? [];
      if (name === "") throw new CommandError(`--query must be name=value, got ${JSON.stringify(each)}`);
      query.set(name, [...(query.get(name) ?? []), value]);
    }
    const file = single(parsed, "file");
    const body = file === undefined ? undefined : await readFields(call.host, file);
    const isRead = method.toUpperCase() === "GET";
    const answer = await service.call({
      method: method.toUpperCase(),
      path: address,
      query: Object.fromEntries(query),
      ...(body !== undefined && { body }),
      isRepeatable: isRead,
    });
    const format = formatOf(call, parsed);
    if (format !== "table") printItem(call.host, answer, { format, fields: [], columns: undefined, parent: "" });
    else if (answer !== undefined) call.host.print(writeJson(answer));
    return exitCodes.done;
  },
};

export const workCommands: readonly Command[] = [waitFor, watch, api];
