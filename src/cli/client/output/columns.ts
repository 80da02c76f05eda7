// Chooses what a table shows of each kind of item, and writes it.
import { formatAge } from "../arguments/times.ts";
import { CommandError } from "../command-error.ts";
import { didYouMean } from "../arguments/nearest.ts";
import type { Field } from "../contract/contract.ts";
import { escapeText } from "./escape-text.ts";

export type Item = Readonly<Record<string, unknown>>;

export interface Column {
  readonly title: string;
  readonly read: (item: Item) => string;
}

/** What is worth a column, in this order; of what an item has. */
const preferred = [
  "name",
  "display_name",
  "type",
  "kind",
  "verb",
  "method",
  "state",
  "limited",
  "role_path",
  "subject_path",
  "member_path",
  "group_path",
  "actor_path",
  "caller_path",
  "resource_path",
  "type_path",
  "permission",
  "unit",
  "issuer",
  "url",
  "subject",
  "client_display_name",
  "user_agent",
  "reason",
  "progress_percent",
  "condition",
  "expire_time",
];
const most = 7;

/** What is worth a column of a log, whose entries have no names: what was done, to what, by whom, to which fields, and when. */
const ofLogs = ["type", "resource_path", "actor_path", "changed_fields", "time"];

/**
 * Returns the columns of items of a message.
 *
 * @param fields of the message; none for items whose fields are not known.
 * @param named the fields to show, separated by commas; undefined for those that are usual.
 * @param parent the path of the collection: names stand for paths, except in a collection of several.
 * @throws CommandError for a field that the items do not have.
 */
export function columnsOf(
  fields: readonly Field[],
  named: string | undefined,
  parent: string,
  now: number,
): readonly Column[] {
  const known = new Map(fields.map((field) => [field.name, field]));
  if (named !== undefined) {
    return named.split(",").map((each) => {
      const name = each.trim();
      const [first = ""] = name.split(".");
      if (!known.has(first)) {
        throw new CommandError(
          `--columns has no field ${JSON.stringify(name)}: there are ${[...known.keys()].join(", ")}${didYouMean(first, known.keys())}`,
        );
      }
      return columnOf(name, known.get(first), now, name);
    });
  }
  if (known.has("revision") && known.has("changed_fields")) {
    // All is in the org whose log it is, and a table has no room to say so in each line.
    const [, inOrg = ""] = /^(orgs\/[^/]+\/)changes$/.exec(parent) ?? [];
    return ofLogs.map((name) => columnOf(name, known.get(name), now, undefined, inOrg && `/${inOrg}`));
  }
  const isSeveral = parent.split("/").includes("-");
  const first = ["name", "path", "id"].filter((name) => known.has(name) && !(isSeveral && name === "name")).slice(0, 1);
  const others = preferred.filter((name) => name !== "name" && known.has(name)).slice(0, most - 2);
  const time = known.has("create_time") ? "create_time" : "time";
  // What has no name of its own is told by a sentence.
  const told = first.length === 0 && known.has("description") ? ["description"] : [];
  const names = [...first, ...others, ...told, ...(known.has(time) ? [time] : [])];
  return names.map((name) => columnOf(name, known.get(name), now, undefined));
}

/** @param above what paths are shown below; empty to show them whole. */
function columnOf(name: string, field: Field | undefined, now: number, title: string | undefined, above = ""): Column {
  const isAge = title === undefined && (name === "create_time" || name === "time");
  const usual = isAge ? "age" : name.replace(/_(path|time)$/, (suffix) => (suffix === "_time" ? "s" : ""));
  return {
    title: (title ?? usual).replaceAll("_", " ").toUpperCase(),
    read(item) {
      const value = name.split(".").reduce<unknown>((from, key) => (from as Item | undefined)?.[key], item);
      if (value === undefined || value === null || value === "") return "";
      if (title === undefined && field?.type === "time" && typeof value === "string") return formatAge(value, now);
      if (title === undefined && name === "display_name" && value === item["name"]) return "";
      const text = formatCell(value);
      return escapeText(above !== "" && text.startsWith(above) ? text.slice(above.length) : text);
    },
  };
}

/** Writes a value in one line. */
export function formatCell(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(formatCell).join(",");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([key, each]) => `${key}=${formatCell(each)}`)
      .join(",");
  }
  return String(value);
}
