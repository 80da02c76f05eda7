// The REST call that does the same as a call of the console, as a command for a shell.
import {
  type DescMessage,
  type DescMethod,
  type JsonObject,
  type JsonValue,
  type Message,
  getOption,
  toJson,
} from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/google/api/http_pb.ts";

/** Fields whose names contain one of these never appear in a command. */
const secret = /secret|password|private_?key|push_authorization/i;

/**
 * Returns a curl command. The credential is a variable of the shell, and secrets in the request are left out.
 *
 * @param origin such as `https://iam.example.com`
 */
export function curlOf(method: DescMethod, request: Message, origin: string): string | undefined {
  const fields = toFields(method.input, request);
  for (const rule of bindingsOf(getOption(method, http))) {
    const call = bind(rule, fields);
    if (call !== undefined) return write(call, origin);
  }
  return undefined;
}

interface RestCall {
  readonly verb: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body: JsonValue | undefined;
}

function toFields(schema: DescMessage, request: Message): JsonObject {
  const json = toJson(schema, request, { useProtoFieldName: true });
  return isObject(json) ? hideSecrets(json) : {};
}

const isObject = (json: JsonValue | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

function hideSecrets(json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, secret.test(name) ? "..." : hideSecretsIn(value)]),
  );
}

function hideSecretsIn(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(hideSecretsIn);
  return isObject(value) ? hideSecrets(value) : value;
}

const bindingsOf = (rule: HttpRule): readonly HttpRule[] => [rule, ...rule.additionalBindings];

/** Returns the call of a rule, or undefined if the request does not fit its path. */
function bind(rule: HttpRule, fields: JsonObject): RestCall | undefined {
  const { pattern } = rule;
  if (pattern.case === undefined || pattern.case === "custom") return undefined;
  const rest = { ...fields };
  let fits = true;
  const path = pattern.value.replaceAll(/\{(\w+)(?:=([^}]*))?\}/g, (_, name: string, template = "*") => {
    const field = rest[name];
    const value = typeof field === "string" ? field.replace(/^\//, "") : "";
    delete rest[name];
    fits &&= matches(value, String(template));
    return value;
  });
  if (!fits) return undefined;
  const verb = pattern.case.toUpperCase();
  if (rule.body === "*") return { verb, path, query: [], body: rest };
  const body = rule.body === "" ? undefined : (rest[rule.body] ?? {});
  delete rest[rule.body];
  return { verb, path, query: Object.entries(rest).flatMap(([name, value]) => toQuery(name, value)), body };
}

/** Whether a path has the form of a template such as `orgs/*`. */
function matches(value: string, template: string): boolean {
  const [segments, expected] = [value.split("/"), template.split("/")];
  return (
    segments.length === expected.length &&
    segments.every((segment, index) => segment !== "" && ["*", segment].includes(expected[index] ?? ""))
  );
}

function toQuery(name: string, value: JsonValue): (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((item) => toQuery(name, item));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => toQuery(`${name}.${key}`, item));
  return [[name, String(value)]];
}

function write({ verb, path, query, body }: RestCall, origin: string): string {
  const search = new URLSearchParams(query.map(([name, value]) => [name, value])).toString();
  const url = `${origin}${path}${search === "" ? "" : `?${search}`}`;
  const parts = ["curl", ...(verb === "GET" || (verb === "POST" && body !== undefined) ? [] : ["-X", verb])];
  parts.push("-H", '"Authorization: Bearer $TENANTRY_API_KEY"');
  if (body !== undefined) parts.push("-H", quote("Content-Type: application/json"), "-d", quote(JSON.stringify(body)));
  return [...parts, quote(url)].join(" ");
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
