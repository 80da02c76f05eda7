// Requests that refer to something that is there and to something that is not, by every field of every method that can: paths,
// names, filters and page tokens, found in the descriptors. A field of which it is not known what it can refer to is an error.
import { type DescField, type DescMessage, type DescMethodUnary, ScalarType, getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource, resource_reference } from "../../gen/google/api/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type PathPattern, parentPatternsOf, patternsOf } from "../../src/paths/patterns.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { rounds } from "../support/rounds.ts";
import { type EveryCall, type Request, callsOf, fillRequired } from "./every-call.ts";
import type { FurnishedOrg } from "./furnish-org.ts";

/** Requests that differ only in what one field refers to. */
export interface Probe {
  /** The field, and how it refers to something. */
  readonly title: string;
  readonly variants: readonly Variant[];
}

export interface Variant {
  /** The text that differs. */
  readonly given: string;
  readonly request: Request;
  /** The path that the call is authorised on, for REST. */
  readonly path: string;
}

interface Worlds {
  /** What is the caller's own: the requests refer to it, but for the field in question. */
  readonly own: FurnishedOrg;
  readonly foreign: readonly FurnishedOrg[];
  /** Page tokens of others. */
  readonly tokens: readonly string[];
  /** The number of the method, by which methods take turns. */
  readonly turn: number;
}

/** Predefined roles are the same for all, and known to all. */
const publicPatterns = new Set(["roles"]);

/** What fields refer to whose `google.api.resource_reference` is `*`, because it is of several types; others refer to any resource. */
const severalTypes: Readonly<Record<string, readonly string[]>> = {
  subject_path: ["orgs/members", "orgs/groups"],
  // A role is wanted on one of these.
  "AccessRequest.resource_path": ["orgs", "orgs/projects"],
  // What there are kinds of findings about. Each list reads all kinds.
  "Finding.resource_path": [
    "orgs/clients",
    "orgs/groups",
    "orgs/groups/members",
    "orgs/groups/subgroups",
    "orgs/members",
    "orgs/members/apiKeys",
    "orgs/roleBindings",
    "orgs/projects/roleBindings",
    "orgs/roles",
  ],
  "Finding.related_path": ["orgs/roleBindings", "orgs/projects/roleBindings"],
};

/** Fields that refer to nothing. */
const plainFields = new Set([
  // Of the members of one org.
  "email",
  "allowed_addresses",
  "scopes",
  // Of other hosts.
  "redirect_uris",
  "url",
  "push_url",
  "push_authorization",
  "audience",
  // Of the stream in the path.
  "ack",
  "event_types",
  "state",
  "claim_token",
  "reason",
  "message",
  "state_reason",
  "progress_message",
  "operation",
  "collection",
  "condition",
  "first_sign_in_condition",
  "description",
  "display_name",
  "legal_name",
  "billing_reference",
  "etag",
  "etags",
  "evaluations_semantic",
  // Refer to kinds, which every caller may read.
  "kind",
  "counted_kinds",
  "order_by",
  "permission",
  "permissions",
  "request_id",
  "revision",
  // Of the log of the org in the path.
  "from_revision",
  "as_of_revision",
  // Of the org in the path. What a file refers to is there, too: test/org-files/hostile.test.ts.
  "plan",
  // Of a file, wherever that is kept.
  "address",
  "version",
  // Sealed as page tokens are.
  "token",
  "type",
  "unit",
  // What an issuer knows.
  "issuer",
  "client_id",
  "client_secret",
  "subject",
  "subject_claim",
  // Refers to a parameter of the type itself.
  "routing_parameter",
  "routing_keys",
  "verb",
  "verbs",
]);

/** @throws Error for a field that could refer to something and is not known here. */
export function probesOf(method: DescMethodUnary, rules: MethodRules, worlds: Worlds): Probe[] {
  const bases = callsOf(method, rules, worlds.own.names).filter(({ about }) => about === "present");
  const places = placesIn(method.input);
  const probes = places.flatMap((place) =>
    pairsOf(bases, textsFor(method, place, worlds)).flatMap(([base, { title, texts }]) =>
      probesAt(method, place, base, title, texts, worlds),
    ),
  );
  // Requests that differ only in the path of their target are the same when another path is put there.
  return [...new Map(probes.map((probe) => [JSON.stringify(probe.variants, bigIntsAsText), probe])).values()];
}

/** Returns pairs in which each one and each other occurs, and in `npm run soak` all pairs. */
function pairsOf<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  const all = ones.flatMap((one) => others.map((other): [One, Other] => [one, other]));
  const count = all.length === 0 ? 0 : Math.max(ones.length, others.length);
  const some = Array.from({ length: count }, (_, index): [One, Other] => [
    required(ones[index % ones.length]),
    required(others[index % others.length]),
  ]);
  return rounds(some, all);
}

/** A field of a request, and the way to it. */
type Place = readonly DescField[];

/** All fields of a request that hold text which a caller chooses. */
function placesIn({ fields }: DescMessage): Place[] {
  return fields.flatMap((field): Place[] => {
    if (getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY)) return [];
    if (isText(field)) return [[field]];
    if (field.fieldKind === "map" || field.message === undefined) return [];
    if (field.message.typeName.startsWith("google.")) return [];
    return placesIn(field.message).map((place) => [field, ...place]);
  });
}

function isText(field: DescField): boolean {
  const isAlone = field.fieldKind === "scalar" || (field.fieldKind === "list" && field.listKind === "scalar");
  return isAlone && field.scalar === ScalarType.STRING;
}

/** Texts of one form, of which some refer to something. */
interface Texts {
  readonly title: string;
  readonly texts: readonly { readonly given: string; readonly value: string }[];
}

function textsFor(method: DescMethodUnary, place: Place, worlds: Worlds): Texts[] {
  const field = required(place.at(-1));
  const { name } = field;
  // Its paths have ids alone, which are looked up when something is delivered.
  if (name === "filter" && field.parent.name === "Webhook") return [];
  // It compares what a directory has said: test/scim/sources.test.ts.
  if (field.parent.file.proto.package === "scim.v2" && !isPath(field)) return [];
  if (name === "filter") return filtersFor(method, worlds);
  if (name === "page_token") return [{ title: "", texts: [...worlds.tokens, "no-such-token"].map(plainly) }];
  // Refers to a quota in the org of the request, as `parent_path` does.
  if (name === "quota_path") return [];
  // Refers to a ResourceType, which every caller may read.
  if (name === "type_path") return [];
  if (isPath(field)) return pathsOfField(field, worlds);
  // What a search takes. Every caller may read the catalog.
  if (name === "query") return [...pathsOfTypes(ofCustomers(worlds), worlds), ...namesOfCustomers(worlds)];
  if (name === "name") return namesFor(field.parent, worlds);
  if (plainFields.has(name)) return [];
  throw new Error(`say in existence-probes.ts what ${field.toString()} can refer to`);
}

const plainly = (given: string) => ({ given, value: given });

function isPath(field: DescField): boolean {
  const { type, childType } = getOption(field, resource_reference);
  return type !== "" || childType !== "" || /(^|_)paths?$/.test(field.name);
}

function pathsOfField(field: DescField, worlds: Worlds): Texts[] {
  const { type, childType } = getOption(field, resource_reference);
  if (childType !== "") return pathsFor(required(parentPatternsOf(typeIn(childType))), worlds);
  if (type !== "" && type !== "*") return pathsFor(required(patternsOf(typeIn(type))), worlds);
  const several = severalTypes[field.name] ?? severalTypes[`${field.parent.name}.${field.name}`];
  if (several === undefined) return pathsOfAnything(field, worlds);
  return pathsOfTypes(several, worlds);
}

/** Times have bigints, which JSON has not. */
export const bigIntsAsText = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;

const typeIn = (text: string): string => text.slice(text.indexOf("/") + 1);

function pathsOfAnything(field: DescField, worlds: Worlds): Texts[] {
  const keys = Object.keys(worlds.own.names);
  // AuthZEN asks what CheckAccess asks, which meets all types. Its methods take turns, and meet all in `npm run soak`.
  const isOfAuthzen = field.parent.file.proto.package === "authzen.v1";
  const inTurn = keys.filter((_, index) => !isOfAuthzen || index % 4 === worlds.turn % 4);
  return pathsOfTypes(rounds(inTurn, keys), worlds);
}

const pathsOfTypes = (keys: readonly string[], worlds: Worlds): Texts[] =>
  pathsFor(
    keys.map((key) => key.split("/")),
    worlds,
  );

/**
 * Paths of resources. The gate resolves the paths of all methods: each method meets each pattern in one form, with one path of this
 * form that leads to nothing, by turns, and in `npm run soak` all.
 */
function pathsFor(patterns: readonly PathPattern[], { foreign, turn }: Worlds): Texts[] {
  return patterns
    .filter((pattern) => pattern.length > 0 && !publicPatterns.has(pattern.join("/")))
    .flatMap((pattern, index) => {
      const forms = foreign.map((world) => formsOf(world, pattern));
      const all = required(forms[0]).map(({ title, text }, form) => {
        const there = forms.map((each) => required(each[form]).text);
        const nowhere = madeUp(text);
        const inTurn = nowhere.filter((_, each) => each === (turn + index) % nowhere.length);
        return { title, texts: [...new Set([...there, ...rounds(inTurn, nowhere)])].map(plainly) };
      });
      return rounds([required(all[(turn + index) % all.length])], all);
    });
}

/** The path of a resource with names, with ids, and with `-` above an id. */
function formsOf({ names, ids }: FurnishedOrg, pattern: PathPattern): { title: string; text: string }[] {
  const key = pattern.join("/");
  const [byName, byId] = [names[key], ids[key]];
  if (byName === undefined || byId === undefined) throw new Error(`there is no ${key} to refer to`);
  const below = byId
    .split("/")
    .map((segment, index, all) => (index % 2 === 0 && index < all.length - 1 ? "-" : segment));
  const anywhere = ["", ...below.slice(1)].join("/");
  const forms = [
    { title: `${key} by name`, text: byName },
    { title: `${key} by id`, text: byId },
  ];
  return pattern.length === 1 ? forms : [...forms, { title: `${key} anywhere`, text: anywhere }];
}

/** Paths of the same form that lead to nothing: at their end, and from their start on. */
function madeUp(path: string): string[] {
  const segments = path.split("/");
  return [segments.length - 1, 2].flatMap((index) => {
    const segment = segments[index] ?? "";
    if (segment === "-") return [];
    return [
      segments.with(index, segment.startsWith("@") ? "@01990000-0000-7000-8000-00000000dead" : "nosuchone").join("/"),
    ];
  });
}

/** Names that resources have, of the kind that the message is of. */
function namesFor(message: DescMessage, { foreign }: Worlds): Texts[] {
  const { type } = getOption(message, resource);
  if (type === "") return [];
  return required(patternsOf(typeIn(type)))
    .map((pattern) => pattern.join("/"))
    .filter((key) => !publicPatterns.has(key))
    .map((key) => {
      const there = foreign.map(({ names }) => required(names[key]).split("/").at(-1) ?? "");
      return { title: `a name in ${key}`, texts: [...new Set([...there, "nosuchone"])].map(plainly) };
    });
}

/** The types of what customers have. */
const ofCustomers = ({ own }: Worlds): string[] =>
  Object.keys(own.names).filter((key) => /^(orgs|customers)/.test(key));

function namesOfCustomers(worlds: Worlds): Texts[] {
  return ofCustomers(worlds).map((key) => {
    const there = worlds.foreign.map(({ names }) => required(names[key]).split("/").at(-1) ?? "");
    return { title: `a name in ${key}`, texts: [...new Set([...there, "nosuchone"])].map(plainly) };
  });
}

/** Filters over the fields of what is listed that hold a path. */
function filtersFor({ output }: DescMethodUnary, worlds: Worlds): Texts[] {
  const listed = required(output.fields.find(({ fieldKind }) => fieldKind === "list")?.message);
  // Changes are no resources.
  const own = patternsOf(typeIn(getOption(listed, resource).type)) ?? [];
  return listed.fields
    .filter((field) => isPath(field) && field.name !== "quota_path")
    .flatMap((field) =>
      (field.name === "path" ? pathsFor(own, worlds) : pathsOfField(field, worlds)).map(({ title, texts }) => ({
        title: `${field.name} = ${title}`,
        texts: texts.map(({ given }) => ({ given, value: `${field.name} = "${given}"` })),
      })),
    );
}

function probesAt(
  method: DescMethodUnary,
  place: Place,
  { path, request }: EveryCall,
  form: string,
  texts: Texts["texts"],
  { own }: Worlds,
): Probe[] {
  // A token for what is in all orgs is the same for all callers; each is shown what is its own.
  if (place.at(-1)?.name === "page_token" && path === "") return [];
  const title = `${place.map(({ name }) => name).join(".")}: ${form}, on ${path === "" ? "the platform" : path}`;
  const decides = textAt(request, place) === path && path !== "";
  const variants = texts.map(({ given, value }) => ({
    given,
    request: withText(request, place, value, own),
    path: decides ? given : path,
  }));
  if (!decides) return [{ title, variants }];
  // What else is wrong with a request says nothing about what it refers to: what is in use, or nothing at all.
  const asked = rounds([required(variants[0]), required(variants.at(-1))], variants);
  const broken = asked.map((variant) => ({ ...variant, request: { ...breakPlain(method), ...variant.request } }));
  return [
    { title, variants },
    { title: `${title}, in a request that is wrong`, variants: broken },
  ];
}

function textAt(request: Request, place: Place): unknown {
  return place.reduce<unknown>((at, { localName, fieldKind }) => {
    const value = (at as Request | undefined)?.[localName];
    return fieldKind === "list" ? (value as unknown[] | undefined)?.[0] : value;
  }, request);
}

function withText(request: Request, [field, ...rest]: Place, text: string, own: FurnishedOrg): Request {
  if (field === undefined) return request;
  const { localName, fieldKind, message } = field;
  const isList = fieldKind === "list";
  if (rest.length === 0) return { ...request, [localName]: isList ? [text] : text };
  const [present] = [request[localName]].flat() as (Request | undefined)[];
  const inner = withText(present ?? fillRequired(required(message), own.names), rest, text, own);
  return { ...request, [localName]: isList ? [inner] : inner };
}

/** The plain fields of a request, with what none of them takes. */
function breakPlain({ input }: DescMethodUnary): Request {
  const plain = input.fields.filter((field) => field.fieldKind === "scalar" && isText(field) && !isPath(field));
  return Object.fromEntries(plain.map(({ localName }) => [localName, "!!"]));
}
