// What a form needs to know of a resource, as its message and its google.api.resource option say it.
import { type DescField, type DescMessage, type FileRegistry, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource } from "../../gen/google/api/resource_pb.ts";
import { shares_id } from "../../gen/iam/v1alpha/resource_options_pb.ts";
import type { SourceReader } from "./image.ts";

/** A place where a resource can stand: `orgs/{org}/projects/{project}` has `orgs/{org}` and `projects`. */
export interface Place {
  /** Empty at the top. */
  readonly parent: string;
  readonly collection: string;
}

export interface Resource {
  readonly message: DescMessage;
  readonly type: string;
  /** As its methods are called: `ApiKey`, `ApiKeys`. */
  readonly methodNouns: readonly [one: string, many: string];
  /** As permissions call it: `apiKeys`. */
  readonly plural: string;
  /** The fields that hold one and several: `api_key`, `api_keys`. */
  readonly fieldNames: readonly [one: string, many: string];
  /** As people call it: `API key`, `API keys`. */
  readonly nouns: readonly [one: string, many: string];
  /** As google.api.resource has them. */
  readonly patterns: readonly string[];
  /** The same, taken apart. */
  readonly places: readonly Place[];
  /** What people call those that it stands in, `Members`, when they are all of one kind. */
  readonly parentNoun: string | undefined;
  /** A path for comments, `orgs/acme/members/alice`: the one in the comment of its own `path`; empty when none is there. */
  readonly example: string;
  /** The resource's fields that a Create must set. */
  readonly requiredFields: readonly string[];
  /** Whether it stays readable when it is deleted, and can be brought back. */
  readonly keepsDeleted: boolean;
  readonly canBeSuspended: boolean;
  /** Whether access depends on it, so that writes can preview who would gain or lose some. */
  readonly affectsAccess: boolean;
  /** Whether it only joins others, as a membership does: it has the id and the name of one of them. */
  readonly isLink: boolean;
}

/** What people call a resource, where that is not the name of its message. */
const ownNouns: Readonly<Record<string, string>> = {
  ApiKey: "API key",
  GroupMember: "membership",
  Subgroup: "subgroup",
};

export function readResources(registry: FileRegistry, sourceOf: SourceReader): Resource[] {
  const messages = [...registry].filter((desc) => desc.kind === "message").filter((desc) => hasOption(desc, resource));
  const nounsByPattern = new Map(
    messages.flatMap((message) => getOption(message, resource).pattern.map((each) => [each, nounsOf(message)[1]])),
  );
  return messages.map((message) => readResource(message, nounsByPattern, sourceOf));
}

function readResource(message: DescMessage, nounsByPattern: Map<string, string>, sourceOf: SourceReader): Resource {
  const { type, singular, plural, pattern } = getOption(message, resource);
  const has = (name: string): boolean => message.fields.some((field) => field.name === name);
  const places = pattern.map(readPlace);
  const parents = new Set(places.map(({ parent }) => parent).filter((parent) => parent !== ""));
  const [onlyParent] = parents;
  return {
    message,
    type,
    methodNouns: [upperFirst(singular), upperFirst(plural)],
    plural,
    fieldNames: [toSnakeCase(singular), toSnakeCase(places[0]?.collection ?? "")],
    nouns: nounsOf(message),
    patterns: pattern,
    places,
    parentNoun: parents.size === 1 ? nounsByPattern.get(onlyParent ?? "") : undefined,
    example: readExample(message, pattern, sourceOf),
    requiredFields: message.fields.filter((field) => isRequired(field)).map(({ name }) => name),
    keepsDeleted: has("delete_time"),
    canBeSuspended: message.nestedEnums.some(({ values }) => values.some(({ name }) => name === "SUSPENDED")),
    affectsAccess: has("access_preview"),
    isLink: getOption(message, shares_id),
  };
}

function nounsOf({ name }: DescMessage): readonly [one: string, many: string] {
  const noun = ownNouns[name] ?? name;
  return [noun, `${noun}s`];
}

function readPlace(pattern: string): Place {
  const segments = pattern.split("/");
  return { parent: segments.slice(0, -2).join("/"), collection: segments.at(-2) ?? "" };
}

function readExample(message: DescMessage, patterns: readonly string[], sourceOf: SourceReader): string {
  const path = message.fields.find(({ name }) => name === "path");
  const example = path && /`\/([^`]+)`/.exec(sourceOf(path).comment)?.[1];
  return example !== undefined && patterns.some((pattern) => fits(example, pattern)) ? example : "";
}

/** Whether a path has the collections of a pattern. */
export function fits(path: string, pattern: string): boolean {
  const names = path.split("/");
  const expected = pattern.split("/");
  return (
    names.length === expected.length &&
    expected.every((segment, index) => segment.startsWith("{") || segment === names[index])
  );
}

function isRequired(field: DescField): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toSnakeCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
