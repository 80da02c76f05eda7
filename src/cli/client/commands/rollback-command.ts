// Leads an org back to what it was.
import { randomUUID } from "node:crypto";
import { type Flag, isSet, type ParsedArguments, single } from "../arguments/flags.ts";
import { parseMoment } from "../arguments/times.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { addressOf, findMethod } from "../contract/find-method.ts";
import type { Connection } from "../credentials/connect.ts";
import { recordOf } from "../http/service-error.ts";
import { writeJson } from "../output/print-items.ts";
import { readPlan, writePlan } from "../output/write-plan.ts";
import { type Command, type CommandCall, connectTo, refuseWords } from "./command.ts";
import { confirm } from "./confirm-removal.ts";
import { explainFailure } from "./explain-failure.ts";
import { planFormatFlag, planFormatOf, showPlan, withoutOutput } from "./plan-format.ts";

const flags: readonly Flag[] = [
  {
    name: "to",
    value: "REVISION|TIME",
    help: "When the org was as it shall be, such as 2026-03-01T12:00:00Z, or 2d for two days ago",
  },
  {
    name: "leave-out-impossible",
    help: "Leads back what can be, and leaves out a member that was purged and the like",
  },
  { name: "dry-run", help: "Only shows what would change; the exit code is 2 if anything would" },
  planFormatFlag,
];

type Answer = Readonly<Record<string, unknown>>;

export const rollbackCommand: Command = {
  name: "rollback",
  usage: "[ORG]",
  help: "Lead an org back to a revision or time, whole or not at all; shows the changes and asks before",
  flags,
  async run(call, parsed) {
    const [given] = parsed.positionals;
    refuseWords(parsed, 1, { message: "rollback takes one org", next: `tenantry rollback ${given ?? "ORG"} --to 2d` });
    const { request, text } = requestOf(call, parsed);
    const format = planFormatOf(call, parsed);
    const connection = await connectTo(call, withoutOutput(parsed));
    const org = given ?? connection.context.org;
    if (org === undefined)
      throw new CommandError("rollback needs an org", { next: `tenantry rollback ORG --to ${text}` });
    const isDry = isSet(parsed, "dry-run");
    const answer = await send(call, connection, org, { ...request, validate_only: true });
    const plan = readPlan(org.split("/").at(-1) ?? org, answer);
    if (isDry) call.host.print(showPlan(answer, plan, format));
    else if (call.host.isAttended) call.host.warn(writePlan(plan, "table"));
    if (plan.obstacles.length > 0) {
      if (isDry) return exitCodes.refused;
      throw new CommandError(plan.obstacles.join("; "), { exitCode: exitCodes.refused, reason: "STATE_FORBIDS" });
    }
    if (plan.changes.length === 0) return exitCodes.done;
    if (isDry) return exitCodes.differs;
    const command = `tenantry rollback ${org} --to ${text}`;
    if (!isSet(parsed, "yes")) await confirm(call.host, connection, `lead ${plan.org} back`, command);
    const body = { ...request, plan: answer["plan"], request_id: randomUUID() };
    const done = await send(call, connection, org, body);
    if (call.host.isTerminal) call.host.warn("Led back.\n");
    else call.host.print(writeJson(done));
    return exitCodes.done;
  },
};

function requestOf(
  { host }: CommandCall,
  parsed: ParsedArguments,
): { readonly request: Answer; readonly text: string } {
  const text = single(parsed, "to");
  if (text === undefined)
    throw new CommandError("rollback needs --to REVISION, or a time", {
      next: "tenantry changes --columns revision,time,resource_path",
    });
  const moment = parseMoment(text, host.now(), "--to");
  const isPartial = isSet(parsed, "leave-out-impossible");
  return { request: { ...moment, ...(isPartial && { leave_out_impossible: true }) }, text };
}

async function send(
  { contract }: CommandCall,
  { service, context }: Connection,
  org: string,
  body: unknown,
): Promise<Answer> {
  const found = findMethod(contract, "rollback", org.includes("/") ? org : `/orgs/${org}`, context);
  try {
    const path = addressOf(found.method, found.segments);
    return recordOf(await service.call({ method: "POST", path, body, isRepeatable: true })) ?? {};
  } catch (error) {
    throw explainFailure(error, { contract, verb: "rollback", found });
  }
}
