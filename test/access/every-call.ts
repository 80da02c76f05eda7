// Calls of any method, filled from its descriptor: the path that decides, what must be set, and nothing else.
import {
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  getOption,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { patternsOf } from "../../src/paths/patterns.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";

export type Request = Record<string, unknown>;

/** A path for each kind of place, by its collections: `orgs/members`. */
export type Paths = Readonly<Record<string, string>>;

export interface EveryCall {
  /** What is asked about is there, is not there, or is all that there is. */
  readonly about: "present" | "missing" | "any";
  /** Empty for the platform as a whole. */
  readonly path: string;
  readonly request: Request;
}

/** @throws Error for a method that needs a path or a field of a kind that is not known here: it needs a line then. */
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

/** Answers what the method answers. */
export async function callMethod(transport: Transport, method: DescMethodUnary, request: Request): Promise<object> {
  const input = request as MessageInitShape<DescMessage>;
  const answer = await transport.unary(method, undefined, undefined, undefined, input);
  return answer.message;
}

type Variant = Pick<EveryCall, "about" | "path">;

function variantsOf(pattern: readonly string[], paths: Paths, takesAny: boolean): Variant[] {
  if (pattern.length === 0) return [{ about: "present", path: "" }];
  const path = pathOf(pattern, paths);
  const segments = path.split("/");
  const withName = (index: number, name: string): string => segments.with(index, name).join("/");
  const missing = [
    withName(-1, "no-such-one"),
    withName(-1, "@01990000-0000-7000-8000-00000000dead"),
    withName(2, "no-such-one"),
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

/** Whether REST has a path for the call: some resources stand where they cannot be changed. */
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

/** The field of a method for anyone that says what is asked about. */
function fieldOfAnything({ input }: DescMethodUnary): string | undefined {
  return input.fields.find((field) => getOption(field, resource_reference).type === "*")?.name;
}

/** The field that says what a call is about, and its path. */
interface Decisive {
  /** The messages in which the field is, from the request on. */
  readonly way: readonly string[];
  readonly name: string;
  readonly path: string;
}

/** Nothing that is written is kept, and no update changes what cannot be changed. */
function fillRequest(method: DescMethodUnary, decisive: Decisive, paths: Paths): Request {
  const isLeftOut = (field: DescField): boolean => method.name.startsWith("Update") && behaves(field, "IMMUTABLE");
  const request = fillMessage(method.input, decisive, paths, isLeftOut);
  const writes = method.input.fields.some(({ name }) => name === "validate_only");
  return writes ? { ...request, validateOnly: true } : request;
}

/** A message with what must be set in it. */
export function fillRequired(desc: DescMessage, paths: Paths): Request {
  return fillMessage(desc, { way: [], name: "", path: "" }, paths, () => false);
}

type Chooses = (field: DescField) => boolean;

function fillMessage({ fields }: DescMessage, decisive: Decisive, paths: Paths, isLeftOut: Chooses): Request {
  const [next, ...way] = decisive.way;
  const isOnWay = (field: DescField): boolean => field.localName === next;
  const isDecisive = (field: DescField): boolean => next === undefined && field.name === decisive.name;
  const fillIn = (field: DescField & { readonly message: DescMessage }): Request => {
    const isBeside = next !== undefined && !isOnWay(field);
    return fillMessage(field.message, { ...decisive, way, ...(isBeside && { name: "" }) }, paths, isLeftOut);
  };
  const fill = (field: DescField): unknown => {
    switch (field.fieldKind) {
      case "message":
        return fillIn(field);
      case "list":
        return [field.listKind === "message" ? fillIn(field) : textOf(field, decisive, paths)];
      case "scalar":
        return textOf(field, decisive, paths);
      case "enum":
        return field.enum.values[1]?.number;
      case "map":
        return {};
    }
  };
  const filled = fields.filter(
    (field) => isDecisive(field) || isOnWay(field) || (behaves(field, "REQUIRED") && !isLeftOut(field)),
  );
  return Object.fromEntries(filled.map((field) => [field.localName, fill(field)]));
}

const operatorPath = "/orgs/system/members/operator";

/** What fields hold that refer to nothing. */
const texts: Readonly<Record<string, string>> = {
  name: "made-up",
  permission: "iam.orgs.get",
  permissions: "iam.orgs.get",
  type: "member",
  // Custom ones cannot be bound everywhere.
  role_path: "/roles/viewer",
};

function textOf(field: DescField, { name, path }: Decisive, paths: Paths): string {
  if (field.name === name) return path;
  const text = texts[field.name];
  if (text !== undefined) return text;
  const { type, childType } = getOption(field, resource_reference);
  const patterns = patternsOf((type || childType).split("/").at(-1) ?? "") ?? [];
  // On the platform only members of the installation's own org are bound.
  if (field.name === "subject_path") return path === "" ? operatorPath : pathOf(["orgs", "members"], paths);
  if (field.name === "paths") return siblingOf(patterns, path, paths);
  if (type === "*") return pathOf(["orgs", "members"], paths);
  const [pattern] = patterns;
  if (pattern === undefined) throw new Error(`there is nothing to put into ${field.toString()}`);
  return pathOf(pattern, paths);
}

/** A path below the parent of a batch. */
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
