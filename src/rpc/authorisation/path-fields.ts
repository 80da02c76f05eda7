// Finds the request field with the path on which a call is authorised, and its patterns.
import { type DescField, type DescMethod, ScalarType, getOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../../gen/google/api/resource_pb.ts";
import {
  type PathPattern,
  isSingletonType,
  parentPatternsOf,
  patterns as knownPatterns,
  patternsOf,
} from "../../paths/patterns.ts";
import type { Wildcards } from "../../paths/parse-path.ts";

export interface TargetField {
  readonly localName: string;
  /** The name in the proto, for errors. */
  readonly name: string;
  /** The patterns of the path. An empty pattern stands for the platform as a whole. */
  readonly patterns: readonly PathPattern[];
  readonly wildcards: Wildcards;
}

/**
 * A field with the path of any resource. It is in the request, in each message of a list in the request, or in a message in
 * either. An item without that message uses the message of the request, and so does a request with an empty list.
 */
export interface AnyPathField {
  readonly listName: string | undefined;
  readonly messageName: string | undefined;
  readonly localName: string;
  /** The name in the proto, for errors. */
  readonly name: string;
}

/** The properties of a method that determine which wildcards its path allows. */
interface MethodKind {
  readonly reads: boolean;
  /** Whether each item of a batch can name its own parent. */
  readonly namesParents: boolean;
}

/**
 * @param method the name of the method, for errors.
 * @throws Error when the request has no such field, or the field refers to no resource.
 */
export function readTargetField(
  { input }: DescMethod,
  method: string,
  pathField: string,
  kind: MethodKind,
): TargetField {
  const field = input.fields.find(({ name }) => name === pathField);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
    throw new Error(`${method}: its path_field ${pathField} is not a string field of ${input.typeName}`);
  }
  const { localName, name } = field;
  const patterns = patternsOfField(field, method);
  return { localName, name, patterns, wildcards: wildcardsOf(field, patterns, kind) };
}

/**
 * Returns the patterns of what the field `paths` of a batch names; undefined for requests without it.
 *
 * @param method the name of the method, for errors.
 * @throws Error when the field refers to no resource.
 */
export function readItemPatterns({ input }: DescMethod, method: string): readonly PathPattern[] | undefined {
  const field = input.fields.find(({ name, fieldKind }) => name === "paths" && fieldKind === "list");
  return field && patternsOfField(field, method);
}

/** Returns the patterns of the resource in the field's `google.api.resource_reference`, or of its parents for a `child_type`. */
function patternsOfField(field: DescField, method: string): readonly PathPattern[] {
  const { type, childType } = getOption(field, resource_reference);
  const patterns = childType === "" ? patternsOf(resourceType(type)) : parentPatternsOf(resourceType(childType));
  if (patterns === undefined) throw new Error(`${method}: ${field.name} has no resource_reference to a known resource`);
  return patterns;
}

const resourceType = (type: string): string => type.slice(type.indexOf("/") + 1);

/**
 * Returns where a path may have `-` (AIP-159): for any parent of what the method reads, above an id if it reads one, or what is of
 * one, and nowhere if it writes, except for the parents in one org of a batch whose items name them (AIP-233). The parent of a
 * singleton names one resource.
 */
function wildcardsOf(
  field: DescField,
  patterns: readonly PathPattern[],
  { reads, namesParents }: MethodKind,
): Wildcards {
  if (!reads) return namesParents && patterns.some(isBelowOrg) ? "last-in-org" : "nowhere";
  const { childType } = getOption(field, resource_reference);
  if (isSingletonType(resourceType(childType))) return "above-id";
  return childType === "" ? "above-id" : "anywhere";
}

const [orgs] = knownPatterns.Org;

const isBelowOrg = ([top, below]: PathPattern): boolean => top === orgs && below !== undefined;

/** Reads the path field of an access question, which refers to any resource (`*`). Returns undefined for other methods. */
export function readAnyPathField({ input }: DescMethod, pathField: string): AnyPathField | undefined {
  const steps = pathField.split(".");
  const last = steps.pop();
  const names: { listName?: string; messageName?: string } = {};
  let desc = input;
  for (const step of steps) {
    const field = desc.fields.find(({ name }) => name === step);
    if (field?.fieldKind === "list" && field.listKind === "message") names.listName = field.localName;
    else if (field?.fieldKind === "message") names.messageName = field.localName;
    else return undefined;
    desc = field.message;
  }
  const field = desc.fields.find(({ name }) => name === last);
  if (field?.fieldKind !== "scalar" || getOption(field, resource_reference).type !== "*") return undefined;
  const { listName, messageName } = names;
  return { listName, messageName, localName: field.localName, name: field.name };
}
