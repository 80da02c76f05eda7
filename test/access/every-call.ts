// Builds calls of any method from its descriptor: the path on which access is decided, the required fields, and nothing
// else.
import { TimestampSchema, timestampFromDate, timestampFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import {
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  getOption,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import pMap from "p-map";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { patternsOf } from "../../src/paths/patterns.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { failureOf } from "../support/failure.ts";

export type Request = Record<string, unknown>;

/** An example path for each pattern, by its collections: `orgs/members`. */
export type Paths = Readonly<Record<string, string>>;

export interface EveryCall {
  /** Whether the path refers to an existing resource, a missing one, or any with `-`. */
  readonly about: "present" | "missing" | "any";
  /** Empty for the platform. */
  readonly path: string;
  readonly request: Request;
}

interface EveryMethod {
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly rules: MethodRules;
}

/** Returns the methods that answer with one message. `every-method.test.ts` says which do not. */
export function unaryMethods(services: readonly DescService[]): EveryMethod[] {
  return [...createMethodTable(services)].flatMap(([method, rules]) =>
    method.methodKind === "unary" ? [{ name: rules.name, method: method as DescMethodUnary, rules }] : [],
  );
}

/** @throws Error for a method with a path or a field that this file does not know yet. */
export function callsOf(method: DescMethodUnary, rules: MethodRules, paths: Paths): EveryCall[] {
  const { target } = rules;
  const place = rules.anyPath?.name ?? (target === undefined ? fieldOfAnything(method) : undefined);
  if (place !== undefined) {
    const way = [rules.anyPath?.listName, rules.anyPath?.messageName].filter((step) => step !== undefined);
    const fill = (path: string): Request => fillRequest(method, { way, name: place, path }, paths);
    const pattern = way.includes("subject") ? ["orgs", "members"] : ["orgs", "projects"];
    return variantsOf(pattern, paths, false).map((each) => ({ ...each, request: fill(each.path) }));
  }
  return (target?.patterns ?? [[]]).flatMap((pattern) => {
    const variants = variantsOf(pattern, paths, target?.wildcards === "anywhere");
    return variants.map((each) => {
      const decides = { way: [], name: target?.name ?? "", path: each.path };
      return { ...each, request: fillRequest(method, decides, paths) };
    });
  });
}

/** Returns a request of the method about a path. */
export function requestAt(method: DescMethodUnary, { target }: MethodRules, path: string, paths: Paths): Request {
  return fillRequest(method, { way: [], name: target?.name ?? "", path }, paths);
}

/** Returns the response of the method. */
export async function callMethod(transport: Transport, method: DescMethodUnary, request: Request): Promise<object> {
  const input = request as MessageInitShape<DescMessage>;
  const answer = await transport.unary(method, undefined, undefined, undefined, input);
  return answer.message;
}

/** How often a call is made again that a busy machine has kept from a lock, a connection, its turn or its end in time: it has done nothing. */
const maxTries = 5;

/** Does so for a call that may find the service busy. */
export async function callMethodWhenFree(
  transport: Transport,
  method: DescMethodUnary,
  request: Request,
  tries = maxTries,
): Promise<object> {
  try {
    return await callMethod(transport, method, request);
  } catch (error) {
    const { code, reason } = await failureOf(Promise.reject(error));
    const isBusy = code === "Unavailable" || code === "DeadlineExceeded" || reason === "RATE_LIMITED";
    if (tries === 1 || !isBusy) throw error;
    return callMethodWhenFree(transport, method, request, tries - 1);
  }
}

/** Returns what a request of a method must have beside its required fields: one of two. */
export const oneOfTwo = ({ name }: DescMethodUnary): Request =>
  name === "RollbackOrg" ? { time: timestampNow() } : {};

/**
 * Does something for each item, a few at once: calls that the service and its database get together cost less than one after the other.
 *
 * @throws Error of the first one that fails.
 */
export async function eachOf<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  await pMap(items, run, { concurrency: 4 });
}

type Variant = Pick<EveryCall, "about" | "path">;

function variantsOf(pattern: readonly string[], paths: Paths, takesAny: boolean): Variant[] {
  if (pattern.length === 0) return [{ about: "present", path: "" }];
  const path = pathOf(pattern, paths);
  const segments = path.split("/");
  const withName = (index: number, name: string): string => segments.with(index, name).join("/");
  const missing = [
    withName(-1, "nosuchone"),
    withName(-1, "@01990000-0000-7000-8000-00000000dead"),
    withName(2, "nosuchone"),
  ];
  return [
    { about: "present", path },
    ...[...new Set(missing)].map((each) => ({ about: "missing", path: each }) as const),
    ...(takesAny ? [{ about: "any", path: withName(2, "-") } as const] : []),
  ];
}

function pathOf(pattern: readonly string[], paths: Paths): string {
  const path = paths[pattern.join("/")];
  if (path === undefined) throw new Error(`there is no path of ${pattern.join("/")} to call methods with`);
  return path;
}

/** Reports whether REST has a route for the call. Some resources cannot be changed in all places. */
export function hasRoute(method: DescMethodUnary, { path }: Pick<EveryCall, "path">): boolean {
  const rule = getOption(method, http);
  const templates = [rule, ...rule.additionalBindings].map(({ pattern }) =>
    typeof pattern.value === "string" ? /\{\w+=([^}]*)\}/.exec(pattern.value)?.[1] : undefined,
  );
  return templates.some((template) =>
    template === undefined
      ? path === "" || rule.body === "*"
      : new RegExp(`^/${template.replaceAll("*", "[^/]+")}$`).test(path),
  );
}

/** Returns the field for the path in a request about any resource. */
function fieldOfAnything({ input }: DescMethodUnary): string | undefined {
  // A subject is of one of two types.
  const found = input.fields.find(
    (field) => field.name !== "subject_path" && getOption(field, resource_reference).type === "*",
  );
  return found?.name;
}

/** The field with the path on which access is decided. */
interface Decisive {
  /** The fields that lead from the request to the message with this field. */
  readonly way: readonly string[];
  readonly name: string;
  readonly path: string;
}

/** Writes use validate_only, and updates omit immutable fields. What waits for something is told not to. */
function fillRequest(method: DescMethodUnary, decisive: Decisive, paths: Paths): Request {
  const isLeftOut = (field: DescField): boolean => method.name.startsWith("Update") && behaves(field, "IMMUTABLE");
  const request = { ...fillMessage(method.input, decisive, paths, isLeftOut), ...besides(method) };
  const writes = method.input.fields.some(({ name }) => name === "validate_only");
  if (writes) return { ...request, validateOnly: true };
  const waits = method.input.fields.some(({ name }) => name === "return_immediately");
  return waits ? { ...request, returnImmediately: true } : request;
}

/** The same in all requests, so that their answers are. */
const invitationExpireTime = timestampFromMs(Date.now() + 86_400_000);

/** Who is invited has an address, which other members need not have. */
const besides = ({ name }: DescMethodUnary): Request =>
  name === "InviteMember" ? { member: { name: "madeup", email: "madeup@example.com", invitationExpireTime } } : {};

/** Returns a message with its required fields. */
export function fillRequired(desc: DescMessage, paths: Paths): Request {
  return fillMessage(desc, { way: [], name: "", path: "" }, paths, () => false);
}

type Chooses = (field: DescField) => boolean;

function fillMessage({ fields }: DescMessage, decisive: Decisive, paths: Paths, isLeftOut: Chooses): Request {
  const [next, ...way] = decisive.way;
  const isOnWay = (field: DescField): boolean => field.localName === next;
  const isDecisive = (field: DescField): boolean => next === undefined && field.name === decisive.name;
  const fillIn = (field: DescField & { readonly message: DescMessage }): Request => {
    if (field.message.typeName === TimestampSchema.typeName) return inAnHour();
    // The smallest file of an org.
    if (field.name === "org_file") return { org: decisive.path.split("/")[2] ?? "" };
    const isBeside = next !== undefined && !isOnWay(field);
    return fillMessage(field.message, { ...decisive, way, ...(isBeside && { name: "" }) }, paths, isLeftOut);
  };
  const fill = (field: DescField): unknown => {
    switch (field.fieldKind) {
      case "message":
        return fillIn(field);
      case "list":
        if (field.listKind === "enum") return [field.enum.values[1]?.number];
        return [field.listKind === "message" ? fillIn(field) : textOf(field, decisive, paths)];
      case "scalar":
        return textOf(field, decisive, paths);
      case "enum":
        return field.enum.values[1]?.number;
      case "map":
        return field.name === "limits" ? { requested: 2 } : {};
    }
  };
  const filled = fields.filter(
    (field) => isDecisive(field) || isOnWay(field) || (behaves(field, "REQUIRED") && !isLeftOut(field)),
  );
  return Object.fromEntries(filled.map((field) => [field.localName, fill(field)]));
}

const inAnHour = (): Request => ({ ...timestampFromDate(new Date(Date.now() + 3_600_000)) });

const operatorPath = "/orgs/system/members/operator";

/** The values of fields that are not references. */
const texts: Readonly<Record<string, string>> = {
  name: "madeup",
  email: "madeup@example.com",
  collection: "madeup",
  unit: "piece",
  issuer: "https://login.example.com",
  audience: "https://gateway.example.com",
  url: "https://hooks.example.com/tenantry",
  // Of no change.
  from_revision: "00000000-0000-0001-8000-000000000000",
  client_id: "madeup",
  subject: "madeup",
  verb: "start",
  operation: "start",
  claim_token: "01990000-0000-7000-8000-00000000dead",
  reason: "MADE_UP",
  token: "a.made.up",
  refresh_token: "made up",
  permission: "iam.orgs.get",
  query: "madeup",
  plan: "madeup",
  permissions: "iam.orgs.get",
  type: "member",
  // Custom roles cannot be bound on all scopes.
  role_path: "/roles/viewer",
};

function textOf(field: DescField, { name, path }: Decisive, paths: Paths): string {
  if (field.name === name) return path;
  const text = texts[field.name];
  if (text !== undefined) return text;
  const { type, childType } = getOption(field, resource_reference);
  const patterns = patternsOf((type || childType).split("/").at(-1) ?? "") ?? [];
  // On the platform and on services, only members of the org system can be bound.
  if (field.name === "subject_path") {
    return path === "" || path.startsWith("/services/") ? operatorPath : pathOf(["orgs", "members"], paths);
  }
  if (field.name === "paths") return siblingOf(patterns, path, paths);
  if (type === "*") return pathOf(field.parent.name === "AccessRequest" ? ["orgs"] : ["orgs", "members"], paths);
  if (field.name === "quota_path") return `${pathOf(["orgs"], paths)}/quota`;
  const [pattern] = patterns;
  if (pattern === undefined) throw new Error(`there is nothing to put into ${field.toString()}`);
  return pathOf(pattern, paths);
}

/** Returns a path below the parent of a batch. */
function siblingOf(patterns: readonly (readonly string[])[], parent: string, paths: Paths): string {
  const collections = parent.split("/").filter((_, index) => index % 2 === 1);
  const pattern = patterns.find(
    (each) => each.length === collections.length + 1 && collections.every((name, level) => name === each[level]),
  );
  if (pattern === undefined) throw new Error(`nothing is known to be in ${parent}`);
  return `${parent}/${pathOf(pattern, paths).split("/").slice(-2).join("/")}`;
}

function behaves(field: DescField, behavior: keyof typeof FieldBehavior): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior[behavior]);
}
