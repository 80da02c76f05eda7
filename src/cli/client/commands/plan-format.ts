// How a plan is shown: that of a file, or of a rollback.
import { type Flag, type ParsedArguments, single } from "../arguments/flags.ts";
import { CommandError } from "../command-error.ts";
import { writeJson } from "../output/print-items.ts";
import { type PlanLines, writePlan } from "../output/write-plan.ts";
import type { CommandCall } from "./command.ts";

export type PlanFormat = "table" | "json" | "markdown";

export const planFormatFlag: Flag = {
  name: "output",
  short: "o",
  value: "FORMAT",
  help: "table, json, or markdown for a pull request",
};

/** Returns the format that is asked for; for people by default, where there are some. */
export function planFormatOf({ host }: CommandCall, parsed: ParsedArguments): PlanFormat {
  const format = single(parsed, planFormatFlag.name) ?? (host.isTerminal ? "table" : "json");
  if (format === "table" || format === "json" || format === "markdown") return format;
  throw new CommandError(`a plan is shown as table, json or markdown, got ${JSON.stringify(format)}`);
}

/** Returns the arguments without the format, which only a plan has. */
export function withoutOutput(parsed: ParsedArguments): ParsedArguments {
  return { ...parsed, values: new Map([...parsed.values].filter(([name]) => name !== planFormatFlag.name)) };
}

/** @param answer that the plan was read from. */
export function showPlan(answer: unknown, plan: PlanLines, format: PlanFormat): string {
  return format === "json" ? writeJson(answer) : writePlan(plan, format);
}
