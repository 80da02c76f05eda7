// Writes the answer of access:explain in sentences.
import { formatAge } from "../arguments/times.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { escapeText } from "./escape-text.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * @param question what was asked: `subject_path`, `permission` and `resource_path`.
 * @param now the clock, in milliseconds.
 */
export function writeExplanation(question: Json, answer: Json, now: number): string {
  const [subject, permission] = [textOf(question, "subject_path"), textOf(question, "permission")];
  const resource = textOf(question, "resource_path") || "the platform";
  const isAllowed = answer["allowed"] === true;
  const lines = [`${subject} may ${isAllowed ? "" : "not "}do ${permission} on ${resource}.`];
  const denied = textOf(answer, "denied_because");
  if (denied !== "") lines.push(`Denied because ${denied}.`);
  for (const grant of recordsOf(answer, "grants")) lines.push(`Granted by ${writeGrant(grant)}.`);
  if (isAllowed) return write(lines);
  for (const grant of recordsOf(answer, "conditional_grants")) {
    const parts = textsOf(grant, "false_parts");
    lines.push(
      `${writeGrant(grant)} would grant it, but for its condition${parts.length === 0 ? "" : `: ${parts.join("; ")}`}.`,
    );
  }
  for (const grant of recordsOf(answer, "inactive_grants"))
    lines.push(`${writeGrant(grant)} ${writeTimes(grant, now)}.`);
  const roles = textsOf(answer, "role_paths");
  if (roles.length > 0) lines.push(`Roles that contain it: ${roles.join(", ")}.`);
  const granters = textsOf(answer, "granter_paths");
  if (granters.length > 0) lines.push(`Who can grant ${roles[0] ?? "it"}: ${granters.join(", ")}.`);
  if (roles.length > 0 && denied === "") {
    const below = resource === "the platform" ? "" : resource;
    lines.push(
      `To grant it: tenantry create ${below}/roleBindings/NAME --role-path ${roles[0] ?? ""} --subject-path ${subject}`,
    );
  }
  return write(lines);
}

function write(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function writeGrant(grant: Json): string {
  const groups = textsOf(grant, "group_paths");
  const through = groups.length === 0 ? "" : `, through ${groups.join(" in ")}`;
  return `${textOf(grant, "role_binding_path")} with ${textOf(grant, "role_path")}${through}`;
}

function writeTimes(grant: Json, now: number): string {
  const [start, end] = [textOf(grant, "start_time"), textOf(grant, "expire_time")];
  if (end === "") return `begins ${formatAge(start, now)}, at ${start}`;
  return `has ended ${formatAge(end, now)} ago, at ${end}`;
}

function textOf(record: Json, name: string): string {
  return escapeText(stringOf(record[name]) ?? "");
}

function textsOf(record: Json, name: string): readonly string[] {
  const value = record[name];
  return Array.isArray(value) ? value.map((each) => escapeText(String(each))) : [];
}

function recordsOf(record: Json, name: string): readonly Json[] {
  const value = record[name];
  return Array.isArray(value) ? value.map((each) => recordOf(each) ?? {}) : [];
}
