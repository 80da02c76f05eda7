// The command of the command line that does the same as a call of the console.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Contract, Field, Method } from "../../../src/cli/client/contract/contract.ts";
import { fieldsOf, isSwitch } from "../../../src/cli/client/contract/method-fields.ts";
import { flagOf, kebab } from "../../../src/cli/client/contract/names.ts";
import { queryOf } from "./curl.ts";
import { type RestCall, isObject } from "./rest-call.ts";
import { isControlling, quote, shellJson, shellWord } from "./shell-word.ts";

/**
 * Returns the command: that of the verb, or else `tenantry api`, which makes any call. Undefined if somebody has put a text into what is called
 * that could do something else when it is pasted into a terminal, and that cannot be written in another way.
 */
export function commandOf(contract: Contract, call: RestCall): string | undefined {
  const words = questionOf(call) ?? verbOf(contract, call);
  if (words !== undefined && !words.some(isControlling)) return ["tenantry", ...words].map(shellWord).join(" ");
  const { verb, path, rest, body } = call;
  const query = queryOf(rest).flatMap(([name, value]) => ["--query", `${name}=${value}`]);
  const api = ["tenantry", "api", verb, path, ...query];
  if (api.some(isControlling)) return undefined;
  const command = api.map(shellWord).join(" ");
  return body === undefined ? command : `printf %s ${quote(shellJson(body))} | ${command} -f -`;
}

/** Verbs of methods that are commands of their own, with other arguments. */
const ownCommands: ReadonlySet<string> = new Set([
  "apply",
  "check",
  "explain",
  "export",
  "plan",
  "rollback",
  "wait",
  "watch",
]);

/** Questions about access, whose commands take no flags for what is asked. */
const questions: Readonly<Record<string, readonly [command: string, ...fields: string[]]>> = {
  CheckAccess: ["check", "subject_path", "permission", "resource_path"],
  ExplainAccess: ["explain", "subject_path", "permission", "resource_path"],
  ListSubjects: ["who-may", "permission", "resource_path"],
};

function questionOf({ name, body }: RestCall): readonly string[] | undefined {
  const [command, ...fields] = questions[name] ?? [];
  if (command === undefined || !isObject(body)) return undefined;
  const { page_size: size, page_token: _, as_of_revision: revision, as_of_time: time, ...asked } = body;
  const others = Object.keys(asked).filter((each) => !fields.includes(each));
  const values = fields.map((each) => asked[each]);
  if (others.length > 0 || !values.every((value) => typeof value === "string")) return undefined;
  return [command, ...values, ...momentOf({ revision, time }), ...limitOf(size)];
}

const momentOf = ({ revision, time = revision }: Readonly<Record<string, JsonValue | undefined>>): readonly string[] =>
  typeof time === "string" ? ["--as-of", time] : [];

/** A list goes on by itself, so the size of a page is where it stops. */
const limitOf = (size: JsonValue | undefined): readonly string[] =>
  size === undefined ? [] : ["--limit", JSON.stringify(size)];

/** Returns the words of the command of a verb; undefined if they would not make this call. */
function verbOf(contract: Contract, call: RestCall): readonly string[] | undefined {
  const method = contract.methods.find((each) => each.name === call.name && isAt(each, call));
  if (method === undefined || ownCommands.has(kebab(method.verb))) return undefined;
  const body = isObject(call.body) ? call.body : {};
  const {
    update_mask: mask,
    page_size: size,
    page_token: _,
    as_of_revision: revision,
    as_of_time: time,
    ...rest
  } = method.body === "*" ? body : call.rest;
  const { request_id: __, validate_only: isTried, ...own } = rest;
  const { name, ...others } = method.resource === undefined ? {} : body;
  const isNamed = method.verb === "create" && typeof name === "string" && !contract.namedBy[method.resource ?? ""];
  const resource: JsonObject = isNamed || name === undefined ? others : { name, ...others };
  const changed = method.verb === "update" ? toMask(mask, resource) : [];
  const sent = method.verb === "update" ? [...changed, ...("etag" in resource ? ["etag"] : [])] : Object.keys(resource);
  const fields = fieldsOf(contract, method);
  const flags = [...sent, ...Object.keys(own)].map((each) => {
    const field = fields.find((known) => known.name === each);
    return field && flagWords(field, resource[each] ?? own[each], changed.includes(each));
  });
  const path = call.path.slice(method.base.length, call.path.length - method.suffix.length);
  const words = flags.filter((each) => each !== undefined);
  if (words.length < flags.length) return undefined;
  const end = [...momentOf({ revision, time }), ...limitOf(size), ...(isTried === true ? ["--dry-run"] : [])];
  return [kebab(method.verb), isNamed ? `${path}/${name}` : path, ...words.flat(), ...end];
}

function isAt(method: Method, { verb, path }: RestCall): boolean {
  const pattern = `${method.base}${method.path}${method.suffix}`.split("/");
  const segments = path.split("/");
  const matches = (each: string, index: number): boolean => {
    const expected = pattern[index] ?? "";
    return expected.startsWith("*") ? each.endsWith(expected.slice(1)) : each === expected;
  };
  return method.http === verb && segments.length === pattern.length && segments.every(matches);
}

/** Returns the names of the fields that an update changes; its JSON has them as `displayName`. */
function toMask(mask: JsonValue | undefined, resource: JsonObject): readonly string[] {
  if (typeof mask !== "string") return Object.keys(resource).filter((name) => name !== "etag");
  return mask.split(",").map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/**
 * Returns the words that set a field; undefined if no flag gives such a value.
 *
 * @param isChanged whether an update sets it, to nothing if it has no value. The entries of a map are added to those that are there, unless it is
 *   emptied first.
 */
function flagWords(field: Field, value: JsonValue | undefined, isChanged: boolean): readonly string[] | undefined {
  const name = flagOf(field);
  if (isSwitch(field)) return [value === true ? `--${name}` : `--no-${name}`];
  const isEmptied = isChanged && (value === undefined || field.shape === "map");
  const texts = value === undefined ? [] : textsOf(field, value);
  if (texts === undefined) return undefined;
  const write = (text: string): readonly string[] =>
    text.startsWith("-") ? [`--${name}=${text}`] : [`--${name}`, text];
  return [...(isEmptied ? ["--clear", name] : []), ...texts.flatMap(write)];
}

function textsOf(field: Field, value: JsonValue): readonly string[] | undefined {
  const textOf = (each: JsonValue): string =>
    typeof each === "string" && field.type !== "json" ? each : JSON.stringify(each);
  if (field.shape === "map") {
    const entries = isObject(value) ? Object.entries(value) : [];
    return entries.some(([key]) => key.includes("="))
      ? undefined
      : entries.map(([key, each]) => `${key}=${textOf(each)}`);
  }
  const texts = (Array.isArray(value) && field.shape === "list" ? value : [value]).map(textOf);
  // Durations are typed in whole seconds, and a list of JSON as a value of a list would be several values.
  const isTyped = field.type !== "duration" || texts.every((text) => /^\d+s$/.test(text));
  return isTyped && !(field.shape === "list" && texts.some((text) => field.type === "json" && text.startsWith("[")))
    ? texts
    : undefined;
}
