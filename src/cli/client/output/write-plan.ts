// Shows the plan of a file: a line for each change, who gains and loses what by them, and what is left as it is.
import { recordOf, stringOf } from "../http/service-error.ts";
import { escapeText } from "./escape-text.ts";
import { type AccessLines, readAccess } from "./write-access.ts";
import { readDrifts } from "./write-drifts.ts";

interface PlanLine {
  /** `CREATE`, `UPDATE`, `REPLACE`, `DELETE`, and of a rollback `UNDELETE`, `ACTIVATE` or `SUSPEND`. */
  readonly action: string;
  /** Below the org; that of the org is its name. */
  readonly path: string;
  readonly fields: readonly string[];
  /** Lines for them with their values: `display_name: "SRE" → "Site reliability"`; none from a service that does not say them. */
  readonly values: readonly string[];
}

export interface PlanLines {
  readonly org: string;
  readonly changes: readonly PlanLine[];
  /** Lines for what goes with what is removed: `- groups/sre/members/alice  (with groups/sre)`. */
  readonly implied: readonly string[];
  readonly impliedCount: number;
  readonly obstacles: readonly string[];
  readonly unlistedCount: number;
  readonly access: AccessLines;
  /** Lines for what is not as files have made it: `* groups/sre was changed since https://... at 4f3c2a1`. */
  readonly drifts: readonly string[];
  readonly adoptedCount: number;
  /** What a rollback leaves as it is, in sentences. */
  readonly leftOut: readonly string[];
}

/** Reads the answer of the service. */
export function readPlan(org: string, answer: Readonly<Record<string, unknown>>): PlanLines {
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return {
    org,
    changes: list(answer["changes"]).map((each) => {
      const change = recordOf(each) ?? {};
      const below = belowOrg(change["resource_path"]);
      return {
        action: stringOf(change["action"]) ?? "",
        path: below === "" ? org : below,
        fields: list(change["changed_fields"]).map(String),
        values: list(change["changed_values"]).map((value) => writeValue(recordOf(value) ?? {})),
      };
    }),
    implied: readImplied(list(answer["implied_removals"]), Number(answer["implied_removal_count"] ?? 0)),
    impliedCount: Number(answer["implied_removal_count"] ?? 0),
    obstacles: list(answer["obstacles"]).map(String),
    unlistedCount: Number(answer["unlisted_count"] ?? 0),
    access: readAccess(org, answer),
    drifts: readDrifts(answer),
    adoptedCount: Number(answer["adopted_count"] ?? 0),
    leftOut: list(answer["left_out"]).map(String),
  };
}

function writeValue({ field, before, after }: Readonly<Record<string, unknown>>): string {
  return `${stringOf(field) ?? "?"}: ${stringOf(before) || "(none)"} → ${stringOf(after) || "(none)"}`;
}

const belowOrg = (path: unknown): string => (stringOf(path) ?? "").split("/").slice(3).join("/");

function readImplied(removals: readonly unknown[], count: number): readonly string[] {
  const lines = removals.map((each) => {
    const { resource_path: path, with_path: withPath, managed_by: source } = recordOf(each) ?? {};
    const address = stringOf(recordOf(source)?.["address"]);
    const managed = address === undefined ? "" : `, managed by ${address}`;
    return `- ${belowOrg(path)}  (with ${belowOrg(withPath)}${managed})`;
  });
  return count > removals.length ? [...lines, `- … and ${count - removals.length} more`] : lines;
}

const signs: Readonly<Record<string, string>> = {
  CREATE: "+",
  UPDATE: "~",
  REPLACE: "±",
  DELETE: "-",
  UNDELETE: "+",
  ACTIVATE: "~",
  SUSPEND: "~",
};

/** What is said of a change of a state, which has no fields. */
const states: Readonly<Record<string, readonly string[]>> = {
  UNDELETE: ["undeleted"],
  ACTIVATE: ["activated"],
  SUSPEND: ["suspended"],
};

/** In the order in which they are counted. */
const counted = [
  ["CREATE", "to create"],
  ["UPDATE", "to change"],
  ["REPLACE", "to replace"],
  ["DELETE", "to remove"],
  ["UNDELETE", "to undelete"],
  ["ACTIVATE", "to activate"],
  ["SUSPEND", "to suspend"],
] as const;

export function writePlan(plan: PlanLines, format: "table" | "markdown"): string {
  const { org, changes, implied, obstacles, access, drifts, leftOut } = plan;
  const changed = changes.flatMap(({ action, path, fields, values }) => {
    const said = states[action] ?? fields;
    const of = said.length === 0 || values.length > 0 ? "" : `  (${said.join(", ")})`;
    return [`${signs[action] ?? "?"} ${path}${of}`, ...values.map((each) => `    ${each}`)].map(escapeText);
  });
  const lines = [...changed, ...implied.map(escapeText)];
  const end = escapeText(`${org}: ${summaryOf(plan)}`);
  const refused = obstacles.map((each) => `! ${escapeText(each)}`);
  const gained = access.lines.map(escapeText);
  if (format === "table") {
    const section = access.summary === "" ? [] : [`${access.summary}:`, ...gained.map((line) => `  ${line}`)];
    const left = leftOut.map((each) => `* ${escapeText(each)}`);
    return [...lines, ...section, ...drifts.map(escapeText), ...left, ...refused, `${end}\n`].join("\n");
  }
  // Names have no backticks, and lines with values, which may have some, do not begin with them.
  const fenced = (inside: readonly string[]): readonly string[] =>
    inside.length === 0 ? [] : ["", "```diff", ...inside.map((line) => line.replace(/^[~±]/, "!")), "```"];
  const section = access.summary === "" ? [] : ["", access.summary, ...fenced(gained)];
  const drifted = drifts.length === 0 ? [] : ["", "Not as files have made it:", ...fenced(drifts.map(escapeText))];
  return [`**${end}**`, ...fenced(lines), ...section, ...drifted, ...refused.map((each) => `\n> ${each}`), ""].join(
    "\n",
  );
}

function summaryOf({ changes, impliedCount, unlistedCount, adoptedCount }: PlanLines): string {
  const counts = counted.flatMap(([action, what]) => {
    const count = changes.filter((each) => each.action === action).length;
    return count === 0 ? [] : [`${count} ${what}`];
  });
  const withThem = impliedCount === 0 ? "" : `, and ${impliedCount} with them`;
  const adopted = adoptedCount === 0 ? "" : `; ${adoptedCount} to manage from now on`;
  const rest = unlistedCount === 0 ? "" : `; ${unlistedCount} in the org and not in the file stay`;
  return `${counts.length === 0 ? "nothing to change" : counts.join(", ")}${withThem}${adopted}${rest}`;
}
