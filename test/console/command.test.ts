// The command of the command line that the console shows for a call makes that call: for every method, with all fields that a request can have.
import { execFileSync } from "node:child_process";
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  create,
  fromJson,
} from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { commandOf } from "../../console/src/calls/command.ts";
import { curlOf, queryOf } from "../../console/src/calls/curl.ts";
import { type RestCall, restCallOf } from "../../console/src/calls/rest-call.ts";
import { contract } from "../../gen/command-line.ts";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { buildRegistry } from "../../scripts/proto-image.ts";
import { required } from "../../src/errors/required.ts";
import { isImmutable, isOutputOnly } from "../../src/rest/openapi/field-behavior.ts";
import { readHttpRules } from "../../src/rest/routing/http-rules.ts";
import { sendJson, startHostileService } from "../cli/client/hostile-service.ts";
import { openTerminal } from "../cli/client/terminal.ts";

const registry = buildRegistry();
const methods: readonly DescMethod[] = [...registry]
  .flatMap((desc) => (desc.kind === "service" && /^(iam|resources)\./.test(desc.typeName) ? desc.methods : []))
  .filter(({ methodKind }) => methodKind === "unary");

/** A value that needs quotes in a shell. */
const text = String.raw`-a "text" of $HOME's \n, ü`;

function scalarOf(type: ScalarType, name: string): JsonValue {
  if (type === ScalarType.BOOL) return true;
  if (type === ScalarType.BYTES) return "AAEC";
  if (type !== ScalarType.STRING) return 7;
  return /_paths?$/.test(name) ? "/orgs/acme/members/alice" : text;
}

function messageOf(message: DescMessage, depth: number): JsonValue | undefined {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return "2030-01-31T17:00:00.250Z";
    case "google.protobuf.Duration":
      return "90s";
    case "google.protobuf.Struct":
      return { ip: "192.0.2.7" };
    case "google.protobuf.Value":
      return ["a", 1];
    case "google.protobuf.Any":
    case "google.protobuf.FieldMask":
      return undefined;
    default:
      return depth === 0 ? undefined : fieldsIn(message, depth - 1);
  }
}

function singleOf(field: DescField, depth: number): JsonValue | undefined {
  if (field.message) return messageOf(field.message, depth);
  if (field.enum) return required(field.enum.values[1]).name;
  return field.scalar === undefined ? undefined : scalarOf(field.scalar, field.name);
}

function valueOf(field: DescField, depth: number): JsonValue | undefined {
  const value = singleOf(field, depth);
  if (value === undefined) return undefined;
  if (field.fieldKind === "map") return { team: value, "a key": value };
  return field.fieldKind === "list" ? [value, value] : value;
}

/** All fields that a client may set; of those of which one can be set, the first. */
function fieldsIn(message: DescMessage, depth: number): JsonObject {
  const settable = message.fields.filter(
    ({ oneof, ...field }) => oneof === undefined || oneof.fields[0]?.name === field.name,
  );
  const entries = settable
    .filter((field) => !isOutputOnly(field))
    .map((field) => [field.name, valueOf(field, depth)] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined));
}

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A request with all fields for each address of a method, and for updates one that empties what it changes. */
function requestsOf(method: DescMethod): readonly Message[] {
  const { input, name } = method;
  return readHttpRules(method).flatMap(({ path, body }) => {
    const { page_token: _, as_of_time: __, ...fields } = fieldsIn(input, 2);
    const resourceField = input.fields.find((field) => field.name === body);
    const created = fields[body];
    // An etag is that of what exists.
    if (/^(Create|Invite)/.test(name) && typeof created === "object" && created !== null && !Array.isArray(created)) {
      delete created["etag"];
    }
    if ("as_of_revision" in fields) fields["as_of_revision"] = "00000000-0000-0732-9f3c-5b21c7e40d18";
    for (const [, variable = "", template = "*"] of path.matchAll(/\{(\w+)(?:=([^}]*))?\}/g)) {
      fields[variable] = `${template === "*" ? "" : "/"}${template.replaceAll("*", "a1")}`;
    }
    const resource = resourceField?.message;
    if (!name.startsWith("Update") || resource === undefined) return [fromJson(input, fields, { registry })];
    const { update_mask: ___, [body]: ____, ...rest } = fields;
    const changed = resource.fields.filter(
      (field) => !isOutputOnly(field) && !isImmutable(field) && field.name !== "etag",
    );
    const mask = changed.map((field) => camel(field.name)).join(",");
    const values = fieldsIn(resource, 1);
    const changes = Object.fromEntries(changed.map(({ name: each }) => [each, values[each] ?? null]));
    const requests = [
      { ...rest, [body]: { ...changes, ...("etag" in values && { etag: text }) }, update_mask: mask },
      { ...rest, [body]: {}, update_mask: mask },
    ];
    return requests.map((request) => fromJson(input, request, { registry }));
  });
}

/** What a shell gives a program, and writes to its standard input. */
interface ShellWords {
  readonly words: readonly string[];
  readonly input: string;
}

/** Gives one shell all commands, because to start one takes longer than what it does. */
function shellWords(commands: readonly string[]): readonly ShellWords[] {
  const program = String.raw`tenantry() { printf '%s\0' "$@"; printf '\0'; case " $* " in *" -f - "*) cat;; esac; }`;
  const script = commands.map((command) => `{\n${command}\n} </dev/null\n${String.raw`printf '\001'`}`);
  const output = execFileSync("sh", ["-s"], { input: [program, ...script, ""].join("\n"), encoding: "utf8" });
  const all = output.split("\u0001").slice(0, -1);
  expect(all).toHaveLength(commands.length);
  return all.map((each) => {
    const end = each.indexOf("\0\0");
    return { words: each.slice(0, end).split("\0"), input: each.slice(end + 2) };
  });
}

/** A call as it can be compared: pages are the business of a program, and so are ids of requests and the order of what is sent. */
function comparable(
  verb: string,
  path: string,
  query: Iterable<readonly [string, string]>,
  body: JsonValue | undefined,
) {
  const own = new Set(["request_id", "page_size", "page_token", "update_mask"]);
  const masked = [...query].flatMap(([name, value]) =>
    name === "update_mask"
      ? value.split(",").map((field) => `${name}=${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`)
      : [],
  );
  const rest = [...query].filter(([name]) => !own.has(name)).map(([name, value]) => `${name}=${value}`);
  const sent =
    typeof body === "object" && body !== null && !Array.isArray(body)
      ? Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name)))
      : (body ?? {});
  return { verb, path, query: [...rest, ...masked].toSorted(), body: sent };
}

test("the command for a call makes it, with every method and field", async () => {
  let got: ReturnType<typeof comparable> | undefined;
  const service = await startHostileService((request, response, body) => {
    const url = new URL(request.url ?? "", "http://localhost");
    got ??= comparable(
      request.method ?? "",
      decodeURIComponent(url.pathname),
      url.searchParams,
      body === "" ? undefined : (JSON.parse(body) as JsonValue),
    );
    sendJson(response, { done: true });
  });
  const terminal = await openTerminal({
    env: { TENANTRY_URL: service.url, TENANTRY_API_KEY: "key" },
    isTerminal: false,
  });
  const calls = methods.flatMap((method) =>
    requestsOf(method).map((request) => {
      const call: RestCall = required(restCallOf(method, request));
      return { method, call, command: required(commandOf(contract, call)) };
    }),
  );
  const typed = shellWords(calls.map(({ command }) => command));
  for (const [index, { call, command }] of calls.entries()) {
    const { words, input } = required(typed[index]);
    got = undefined;
    const { stderr } = await terminal.run([...words, ...(command.includes("tenantry delete ") ? ["--yes"] : [])], {
      input,
    });
    expect({ command, stderr, got }).toMatchObject({
      got: comparable(call.verb, call.path, queryOf(call.rest), call.body),
    });
  }
  expect(calls.length).toBeGreaterThan(200);
  const byApi = new Set(
    calls.filter(({ command }) => command.includes("tenantry api ")).map(({ method }) => method.name),
  );
  // What has a command of its own with other arguments, or a value that no flag gives.
  expect([...byApi].toSorted()).toMatchInlineSnapshot(`
    [
      "ApplyOrg",
      "CheckAccess",
      "ExplainAccess",
      "ExportOrg",
      "PlanOrg",
      "RollbackOrg",
      "WaitOperation",
    ]
  `);
});

test.each(["nice\u0003\ntouch pwned; #", "\u001b[201~\u0003touch pwned", "\u202egnp.exe", "\u009b2J"])(
  "what a terminal would take for something else is in no command: %j",
  (description) => {
    const { updateMember, listMembers } = MembersService.method;
    const request = { path: "/orgs/acme/members/bob", member: { description }, updateMask: { paths: ["description"] } };
    const call = required(restCallOf(updateMember, create(updateMember.input, request)));
    const command = required(commandOf(contract, call));
    expect(command).toMatch(/^printf %s .*u[0-9a-f]{4}.* \| tenantry api PATCH /);
    expect(`${command} ${curlOf(call, "https://iam.example.com")}`).not.toMatch(/\p{C}/u);
    expect(JSON.parse(required(shellWords([command])[0]).input)).toEqual({ description });
    const list = create(listMembers.input, { parentPath: "/orgs/acme", filter: description });
    expect(commandOf(contract, required(restCallOf(listMembers, list)))).toBeUndefined();
  },
);
