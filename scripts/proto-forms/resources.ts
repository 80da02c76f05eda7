// Reads from a resource's message and its google.api.resource option what the forms need to know.
import { type DescField, type DescMessage, type FileRegistry, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource } from "../../gen/google/api/resource_pb.ts";
import { shares_id } from "../../gen/iam/v1alpha/resource_options_pb.ts";
import type { SourceReader } from "./image.ts";

/** A parent and a collection in which a resource can be: `orgs/{org}/projects/{project}` has `orgs/{org}` and `projects`. */
export interface Place {
  /** The start of its URLs, which its package gives: `/iam/v1alpha`. */
  readonly base: string;
  /** Empty for a top-level resource. */
  readonly parent: string;
  readonly collection: string;
}

export interface Resource {
  readonly message: DescMessage;
  readonly type: string;
  /** The nouns in method names: `ApiKey`, `ApiKeys`. */
  readonly methodNouns: readonly [one: string, many: string];
  /** The start of permissions: `iam.apiKeys`. */
  readonly permissions: string;
  /** The fields that contain one or several resources: `api_key`, `api_keys`. */
  readonly fieldNames: readonly [one: string, many: string];
  /** The nouns in comments: `API key`, `API keys`. */
  readonly nouns: readonly [one: string, many: string];
  /** The patterns of google.api.resource. */
  readonly patterns: readonly string[];
  /** The same patterns, split into parent and collection. */
  readonly places: readonly Place[];
  /** The plural noun of its parents, `Members`, if they are all of one type. */
  readonly parentNoun: string | undefined;
  /** The example path in the comment of its `path` field, `orgs/acme/members/alice`; empty if the comment has none. */
  readonly example: string;
  /** The fields of the resource that a Create must set. */
  readonly requiredFields: readonly string[];
  /** Whether it is soft-deleted: readable after a Delete, until it is purged, and restorable. */
  readonly keepsDeleted: boolean;
  readonly canBeSuspended: boolean;
  /** Whether there can be infrastructure resources in it. */
  readonly holdsInfrastructure: boolean;
  /** Whether access depends on it, so that writes can return a preview of access. */
  readonly affectsAccess: boolean;
  /** Whether creating and deleting it takes time and returns an Operation, whose type decides about the permission. */
  readonly isRunByProvider: boolean;
  /** Whether it is such an Operation: it comes about by other methods, and nobody changes it. */
  readonly isOperation: boolean;
  /** Whether members ask for it with a request that is decided, and that stays as it is then. */
  readonly isDecided: boolean;
  /** Whether it has no name, so that only its id is in paths. */
  readonly isUnnamed: boolean;
  /** Whether its name never changes. */
  readonly nameIsImmutable: boolean;
  /** Whether it is in the catalog of resources, outside of all Orgs, which every caller may read. */
  readonly isInCatalog: boolean;
  /** Whether it joins two resources, like a membership, and has the id and the name of one of them. */
  readonly isLink: boolean;
}

/** The nouns of resources that differ from the names of their messages. */
const ownNouns: Readonly<Record<string, string>> = {
  ApiKey: "API key",
  GroupMember: "membership",
  Subgroup: "subgroup",
};

export function readResources(registry: FileRegistry, sourceOf: SourceReader): Resource[] {
  const messages = [...registry]
    .filter((desc) => desc.kind === "message")
    // The methods of singletons have no form yet.
    .filter((desc) => hasOption(desc, resource) && !isSingleton(getOption(desc, resource).pattern));
  const nounsByPattern = new Map(
    messages.flatMap((message) => getOption(message, resource).pattern.map((each) => [each, nounsOf(message)[1]])),
  );
  return messages.map((message) => readResource(message, nounsByPattern, sourceOf));
}

/** Reports whether each parent has exactly one of a resource (AIP-156): then its patterns end without a variable. */
export function isSingleton(patterns: readonly string[]): boolean {
  return patterns.some((pattern) => pattern.split("/").length % 2 === 1);
}

function readResource(message: DescMessage, nounsByPattern: Map<string, string>, sourceOf: SourceReader): Resource {
  const { type, singular, plural, pattern } = getOption(message, resource);
  const has = (name: string): boolean => message.fields.some((field) => field.name === name);
  const [area = "", version = ""] = message.file.proto.package.split(".");
  const places = pattern.map((each) => readPlace(`/${area}/${version}`, each));
  const parents = new Set(places.map(({ parent }) => parent).filter((parent) => parent !== ""));
  const [onlyParent] = parents;
  return {
    message,
    type,
    methodNouns: [upperFirst(singular), upperFirst(plural)],
    permissions: `${area}.${plural}`,
    fieldNames: [toSnakeCase(singular), toSnakeCase(places[0]?.collection ?? "")],
    nouns: nounsOf(message),
    patterns: pattern,
    places,
    parentNoun: parents.size === 1 ? nounsByPattern.get(onlyParent ?? "") : undefined,
    example: readExample(message, pattern, sourceOf),
    requiredFields: message.fields.filter((field) => behaves(field, FieldBehavior.REQUIRED)).map(({ name }) => name),
    keepsDeleted: has("delete_time"),
    canBeSuspended:
      !has("operation_path") &&
      message.nestedEnums.some(({ values }) => values.some(({ name }) => name === "SUSPENDED")),
    holdsInfrastructure: ["Customer", "Org", "Project"].includes(message.name),
    affectsAccess: has("access_preview"),
    isRunByProvider: has("operation_path"),
    isOperation: has("done"),
    isDecided: has("lapse_time"),
    isUnnamed: !has("name"),
    nameIsImmutable: message.fields.some((field) => field.name === "name" && behaves(field, FieldBehavior.IMMUTABLE)),
    isInCatalog: area === "resources" && !pattern.some((each) => each.startsWith("orgs/")),
    isLink: getOption(message, shares_id),
  };
}

function nounsOf({ name }: DescMessage): readonly [one: string, many: string] {
  const noun = ownNouns[name] ?? name;
  return [noun, `${noun.replace(/ty$/, "tie")}s`];
}

function readPlace(base: string, pattern: string): Place {
  const segments = pattern.split("/");
  return { base, parent: segments.slice(0, -2).join("/"), collection: segments.at(-2) ?? "" };
}

function readExample(message: DescMessage, patterns: readonly string[], sourceOf: SourceReader): string {
  const path = message.fields.find(({ name }) => name === "path");
  const example = path && /`\/([^`]+)`/.exec(sourceOf(path).comment)?.[1];
  return example !== undefined && patterns.some((pattern) => fits(example, pattern)) ? example : "";
}

/** Reports whether a path has the collections of a pattern. */
export function fits(path: string, pattern: string): boolean {
  const names = path.split("/");
  const expected = pattern.split("/");
  return (
    names.length === expected.length &&
    expected.every((segment, index) => segment.startsWith("{") || segment === names[index])
  );
}

function behaves(field: DescField, behavior: FieldBehavior): boolean {
  return getOption(field, field_behavior).includes(behavior);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toSnakeCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
