// A client of the REST API that is based only on the protos. It converts calls to the requests that their `google.api.http`
// rules describe, so that the tests of the RPC protocols also run over REST.
import {
  type DescMessage,
  type DescMethodUnary,
  type JsonObject,
  type MessageInitShape,
  type MessageShape,
  create,
  createRegistry,
  fromJson,
  getOption,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { required } from "../../src/errors/required.ts";
import { BadRequestSchema, file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";

const registry = createRegistry(file_google_rpc_error_details);

export function createRestTransport(baseUrl: string, apiKey: string | undefined): Transport {
  return {
    async unary(method, signal, _timeoutMs, header, input) {
      const message = toJson(method.input, create(method.input, input), { useProtoFieldName: true }) as JsonObject;
      const headers = new Headers(header);
      if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`);
      const rule = fittingRule(ruleOf(method), message);
      const { verb, url, body } = createRequest(rule, message);
      if (body !== undefined) headers.set("content-type", "application/json");
      const response = await fetch(`${baseUrl}${url}`, {
        method: verb,
        headers,
        body: body ?? null,
        signal: signal ?? null,
      });
      const json = response.status === 204 ? {} : ((await response.json()) as JsonObject);
      if (!response.ok) throw withRequestFields(readError(json, response.headers), method, rule);
      return {
        stream: false,
        service: method.parent,
        method,
        header: response.headers,
        trailer: new Headers(),
        message: fromJson(method.output, json, { registry }),
      };
    },
    async stream(method, signal, _timeoutMs, header, input) {
      const message = await onlyMessage(method.input, input);
      const headers = new Headers(header);
      headers.set("accept", "application/x-ndjson");
      if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`);
      const { verb, url } = createRequest(fittingRule(getOption(method, http), message), message);
      const response = await fetch(`${baseUrl}${url}`, { method: verb, headers, signal: signal ?? null });
      if (!response.ok) throw readError((await response.json()) as JsonObject, response.headers);
      return {
        stream: true,
        service: method.parent,
        method,
        header: response.headers,
        trailer: new Headers(),
        message: readLines(method.output, response),
      };
    },
  };
}

async function onlyMessage<Desc extends DescMessage>(
  desc: Desc,
  input: AsyncIterable<MessageInitShape<Desc>>,
): Promise<JsonObject> {
  for await (const message of input) {
    return toJson(desc, create(desc, message), { useProtoFieldName: true }) as JsonObject;
  }
  throw new Error("the call has no message");
}

/** Reads JSON lines, the last of which may be an error. */
async function* readLines<Desc extends DescMessage>(
  desc: Desc,
  { body, headers }: Response,
): AsyncIterable<MessageShape<Desc>> {
  let rest = "";
  for await (const text of required(body ?? undefined).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const json = JSON.parse(line) as JsonObject;
      if ("error" in json) throw readError(json, headers);
      yield fromJson(desc, json, { registry });
    }
  }
}

/** Read once: an option is decoded each time that it is asked for. */
const rules = new WeakMap<DescMethodUnary, HttpRule>();

function ruleOf(method: DescMethodUnary): HttpRule {
  const rule = rules.get(method) ?? getOption(method, http);
  rules.set(method, rule);
  return rule;
}

interface RestRequest {
  readonly verb: string;
  readonly url: string;
  readonly body: string | undefined;
}

/**
 * Returns the first rule of a method whose path the message matches. The rules of a method differ in the parents of the
 * resource.
 */
function fittingRule(rule: HttpRule, message: JsonObject): HttpRule {
  const fits = ({ pattern }: HttpRule): boolean => {
    const variables = typeof pattern.value === "string" ? pattern.value.matchAll(/\{(\w+)=([^}]*)\}/g) : [];
    return [...variables].every(([, name = "", template = ""]) => {
      const value = message[name];
      return new RegExp(`^/?${template.replaceAll("*", "[^/]+")}$`).test(typeof value === "string" ? value : "");
    });
  };
  return [rule, ...rule.additionalBindings].find(fits) ?? rule;
}

/** Distributes the fields of a request message as the rule says: path variables, body, and query. */
function createRequest(rule: HttpRule, message: JsonObject): RestRequest {
  if (rule.pattern.case === undefined || rule.pattern.case === "custom") throw new Error("the rule has no path");
  const rest = { ...message };
  const path = rule.pattern.value.replace(/\{(\w+)(?:=[^}]*)?\}/g, (_variable, name: string) => {
    const value = typeof rest[name] === "string" ? rest[name] : "";
    delete rest[name];
    return value.replace(/^\//, "").split("/").map(encodeURIComponent).join("/");
  });
  let body: string | undefined;
  if (rule.body === "*") body = JSON.stringify(rest);
  else if (rule.body !== "") {
    body = JSON.stringify(rest[rule.body] ?? {});
    delete rest[rule.body];
  }
  const query = rule.body === "*" ? "" : toQuery(rest as Record<string, string | string[]>).toString();
  return { verb: rule.pattern.case.toUpperCase(), url: query === "" ? path : `${path}?${query}`, body };
}

/** Repeats the parameter for each item of a list. */
function toQuery(fields: Record<string, string | string[]>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => [value].flat().map((item): [string, string] => [name, item])),
  );
}

/** Converts an AIP-193 body to the error that the RPC clients throw. */
export function readError(json: JsonObject, header: Headers): ConnectError {
  const { status, message, details } = json["error"] as { status: string; message: string; details: JsonObject[] };
  const error = new ConnectError(message, codeOf(status), header);
  const { details: any } = fromJson(StatusSchema, { details }, { registry });
  error.details = any.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.indexOf("/") + 1), value }));
  return error;
}

/** Names the fields of the body as the RPC protocols do, so that tests compare errors over all protocols. */
function withRequestFields(error: ConnectError, { input }: DescMethodUnary, { body }: HttpRule): ConnectError {
  const inBody = input.fields.find(({ name }) => name === body)?.message?.fields.map(({ name }) => name);
  const [bad] = error.findDetails(BadRequestSchema);
  if (inBody === undefined || bad === undefined) return error;
  const top = new Set(input.fields.map(({ name }) => name));
  let message = error.rawMessage;
  for (const violation of bad.fieldViolations) {
    const [first = ""] = violation.field.split(/[.[]/);
    if (top.has(first) || !inBody.includes(first)) continue;
    message = message.replace(`${violation.field}: `, `${body}.${violation.field}: `);
    violation.field = `${body}.${violation.field}`;
  }
  const named = new ConnectError(message, error.code, error.metadata);
  named.details = error.details.map((detail) =>
    "type" in detail && detail.type === BadRequestSchema.typeName ? { desc: BadRequestSchema, value: bad } : detail,
  );
  return named;
}

function codeOf(status: string): Code {
  const name = status.toLowerCase().replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  const spelled = name === "Cancelled" ? "Canceled" : name;
  return Code[spelled as keyof typeof Code];
}
