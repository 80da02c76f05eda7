// The REST call that does the same as a call of the console.
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

export interface RestCall {
  /** The name of the RPC: `GetMember`. */
  readonly name: string;
  readonly verb: string;
  readonly path: string;
  /** The fields of the request that are neither in the path nor in the body. */
  readonly rest: JsonObject;
  readonly body: JsonValue | undefined;
}

/** Returns the call, without the secrets of the request; undefined if there is none. */
export function restCallOf(method: DescMethod, request: Message): RestCall | undefined {
  const fields = toFields(method.input, request);
  for (const rule of bindingsOf(getOption(method, http))) {
    const call = bind(rule, fields);
    if (call !== undefined) return { name: method.name, ...call };
  }
  return undefined;
}

function toFields(schema: DescMessage, request: Message): JsonObject {
  const json = toJson(schema, request, { useProtoFieldName: true });
  return isObject(json) ? hideSecrets(json) : {};
}

export const isObject = (json: JsonValue | undefined): json is JsonObject =>
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
function bind(rule: HttpRule, fields: JsonObject): Omit<RestCall, "name"> | undefined {
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
  if (rule.body === "*") return { verb, path, rest: {}, body: rest };
  const body = rule.body === "" ? undefined : (rest[rule.body] ?? {});
  delete rest[rule.body];
  return { verb, path, rest, body };
}

/** Whether a path has the form of a template such as `orgs/*`. */
function matches(value: string, template: string): boolean {
  const [segments, expected] = [value.split("/"), template.split("/")];
  return (
    segments.length === expected.length &&
    segments.every((segment, index) => segment !== "" && ["*", segment].includes(expected[index] ?? ""))
  );
}
