// Which field of a request holds the path that is authorised, and what that can look like.
import { type DescField, type DescMethod, ScalarType, getOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { type PathPattern, patternsOf } from "../paths/patterns.ts";
import type { Wildcards } from "../paths/resource-path.ts";

/** A field of the request with the path of a resource of ours. */
export interface TargetField {
  readonly localName: string;
  /** As in the proto, for errors. */
  readonly name: string;
  /** What the path can look like; an empty pattern stands for the platform as a whole. */
  readonly patterns: readonly PathPattern[];
  readonly wildcards: Wildcards;
}

/**
 * A field with the path of anything: in the request, in each message of a list of it, or in a message of either. An item of a
 * list without that message means the one of the request, and so does an empty list.
 */
export interface AnyPathField {
  readonly listName: string | undefined;
  readonly messageName: string | undefined;
  readonly localName: string;
  /** As in the proto, for errors. */
  readonly name: string;
}

/** What kind of method the field is of. */
interface MethodKind {
  readonly reads: boolean;
  readonly isPaged: boolean;
}

/**
 * @param method as errors name it.
 * @throws Error when the field is none of the request, or refers to no resource.
 */
export function readTargetField(
  { input }: DescMethod,
  method: string,
  pathField: string,
  kind: MethodKind,
): TargetField {
  const field = input.fields.find(({ name }) => name === pathField);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
    throw new Error(`${method}: its path_field ${pathField} is no string field of ${input.typeName}`);
  }
  const { localName, name } = field;
  return { localName, name, patterns: patternsOfField(field, method), wildcards: wildcardsOf(field, kind) };
}

/** The patterns of the resource, or of its parents, that the field's `google.api.resource_reference` names. */
function patternsOfField(field: DescField, method: string): readonly PathPattern[] {
  const { type, childType } = getOption(field, resource_reference);
  const patterns = patternsOf(resourceType(childType === "" ? type : childType));
  if (patterns === undefined) throw new Error(`${method}: ${field.name} has no resource_reference to a known resource`);
  return childType === "" ? patterns : patterns.map((pattern) => pattern.slice(0, -1));
}

const resourceType = (type: string): string => type.slice(type.indexOf("/") + 1);

/**
 * AIP-159: what reads several resources takes `-` for any parent, what reads one takes it where an id still picks one, and what
 * writes takes it nowhere.
 */
function wildcardsOf(field: DescField, { reads, isPaged }: MethodKind): Wildcards {
  if (!reads) return "nowhere";
  return isPaged || getOption(field, resource_reference).childType !== "" ? "anywhere" : "above-id";
}

/** Where a question says what it is about, a field that refers to any resource, `*`; undefined for other methods. */
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
