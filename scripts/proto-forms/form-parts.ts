// The parts that the forms of several verbs share: http rules, fields, and phrases of comments.
import type { JsonObject } from "@bufbuild/protobuf";
import { pastTypes } from "../../src/standard-methods/past/past-tables.ts";
import { type Place, type Resource, fits } from "./resources.ts";

export interface MethodForm {
  readonly comment: string;
  /** In Protobuf's JSON form. */
  readonly http: JsonObject;
  /** The verb of the permission. */
  readonly permission: string;
  /** The other fields of the authorization option, without the permission and the path field. */
  readonly authorization?: JsonObject;
  readonly request: MessageForm;
  /** The form of the method's own response message, or the full name of another message. */
  readonly response: MessageForm | string;
}

export interface MessageForm {
  readonly comment: string;
  readonly fields: readonly FieldForm[];
}

export interface FieldForm {
  readonly name: string;
  /** The type as a proto declares it, with full names of messages: `repeated string`. */
  readonly type: string;
  /** In Protobuf's JSON form. */
  readonly options?: JsonObject;
  readonly comment: string;
}

/** A mask can name one entry of a map. */
export const fieldsOfMask =
  "`display_name,labels`; `labels.env` means one label, ``labels.`example.com/env` `` one whose key has dots, and `*` all fields";

export const required: JsonObject = { "[google.api.field_behavior]": ["REQUIRED"] };
const outputOnly: JsonObject = { "[google.api.field_behavior]": ["OUTPUT_ONLY"] };

/** Reports whether a resource has no parent (Customer, Org); its requests have no `parent_path`. */
export function isAtTop({ places }: Resource): boolean {
  return places.every(({ parent }) => parent === "");
}

/** Reports whether a place holds the predefined Roles. They cannot be changed and are few, so only Get and List serve them. */
function isPredefined({ message }: Resource, { parent }: Place): boolean {
  return message.name === "Role" && parent === "";
}

export function hasPredefined(resource: Resource): boolean {
  return resource.places.some((place) => isPredefined(resource, place));
}

/** Returns the places in which all verbs serve the resource. */
export function regularPlaces(resource: Resource): readonly Place[] {
  return resource.places.filter((place) => !isPredefined(resource, place));
}

/** Returns the http rule with these bindings, in Protobuf's JSON form. */
export function httpRule([first, ...others]: readonly JsonObject[]): JsonObject {
  return { ...first, ...(others.length > 0 && { additional_bindings: others }) };
}

export function urlOf({ base, parent, collection }: Place): string {
  return `${base}/{path=${anyOf(parent === "" ? `${collection}/-` : `${parent}/${collection}/-`)}}`;
}

export function collectionUrlOf({ base, parent, collection }: Place): string {
  return parent === "" ? `${base}/${collection}` : `${base}/{parent_path=${anyOf(parent)}}/${collection}`;
}

/** Converts a pattern to the form of http rules: `orgs/{org}` → `orgs/*`. */
function anyOf(pattern: string): string {
  return mapNames(pattern, () => "*");
}

export function pathField(resource: Resource, comment: string): FieldForm {
  const reference = { "[google.api.resource_reference]": { type: resource.type } };
  return { name: "path", type: "string", options: { ...required, ...reference }, comment };
}

export function pathsField(resource: Resource, most: number, after = ""): FieldForm {
  const below = isAtTop(resource) ? "" : ", all below `parent_path`";
  return {
    name: "paths",
    type: "repeated string",
    options: { ...pathField(resource, "").options, "[buf.validate.field]": { repeated: { max_items: String(most) } } },
    comment: `The ${resource.nouns[1]}, for example ${quote(resource.example)}; at most ${most}${below}.${after}`,
  };
}

/** Returns how many resources a batch can create or delete: each Operation has several statements of its own. */
export function batchSizeOf({ isRunByProvider }: Resource): number {
  return isRunByProvider ? 100 : 1000;
}

/**
 * Returns the `parent_path` field of a method that serves `places`.
 *
 * @param comment makes the comment from the examples and the phrase that follows them if the field may be empty.
 */
export function parentField(
  resource: Resource,
  places: readonly Place[],
  comment: (examples: string, orEmpty: string) => string,
): readonly FieldForm[] {
  if (isAtTop(resource)) return [];
  const mayBeEmpty = places.some(({ parent }) => parent === "");
  const orEmpty = `; empty for ${hasPredefined(resource) ? "the predefined Roles" : "the platform"}`;
  const reference = { "[google.api.resource_reference]": { child_type: resource.type } };
  return [
    {
      name: "parent_path",
      type: "string",
      // An empty `parent_path` is valid if the resource has a place without a parent.
      options: { ...(!mayBeEmpty && required), ...reference },
      comment: comment(either(parentExamples(resource).map(quote)), mayBeEmpty ? orEmpty : ""),
    },
  ];
}

/** Returns the parents of the example: for `orgs/acme/projects/web/roleBindings/a`, the project and the org. */
export function parentExamples({ places, example }: Resource): readonly string[] {
  const parents = places.map(({ parent }) => parent).filter((parent) => parent !== "");
  return parents.flatMap((parent) => {
    const start = example.split("/").slice(0, parent.split("/").length).join("/");
    return fits(start, parent) ? [start] : [];
  });
}

/** Returns the last fields of every write request. */
export function writeFields(resource: Resource): readonly FieldForm[] {
  // A write that affects access returns a preview of it.
  const preview = resource.affectsAccess ? " The response then has an `access_preview`." : "";
  return [
    {
      name: "validate_only",
      type: "bool",
      comment: `If set, the request is validated and answered as if it were executed, but nothing is changed.${preview}`,
    },
    {
      name: "request_id",
      type: "string",
      options: { "[buf.validate.field]": { ignore: "IGNORE_IF_ZERO_VALUE", string: { uuid: true } } },
      comment:
        "A UUID chosen by the caller that makes retries safe, for example `5f0c1d8e-3d0b-4b7a-9f51-6a2c8d1e7b30`. A request " +
        "that repeats the id of a request of the last day is not executed again: it gets the response of the first one. " +
        "Reusing the id for a different request fails with INVALID_ARGUMENT.",
    },
  ];
}

/** Returns the field of a request that contains the resource. */
export function resourceField({ message, fieldNames }: Resource, comment: string): FieldForm {
  return { name: fieldNames[0], type: message.typeName, options: required, comment };
}

/** Returns the field of a response that contains the resources. */
export function resourcesField({ message, fieldNames }: Resource, comment: string): FieldForm {
  return { name: fieldNames[1], type: `repeated ${message.typeName}`, comment };
}

/** What a method returns that takes time. */
export const operation = "resources.v1alpha.Operation";

/** Returns the field of a response to a batch whose resources a provider creates or deletes. */
export const operationsField: FieldForm = {
  name: "operations",
  type: "repeated resources.v1alpha.Operation",
  comment: "The Operations, in the order of the request.",
};

export const accessPreviewField: FieldForm = {
  name: "access_preview",
  type: "iam.v1alpha.AccessPreview",
  options: outputOnly,
  comment: "The access that Members would gain or lose. Set only in responses to requests with `validate_only`.",
};

/** `orgs/acme/members/alice` → `orgs/acme/members/@<id>` */
export function byId(path: string): string {
  return path.replace(/[^/]+$/, "@<id>");
}

/** `orgs/acme/members/alice` → `orgs/-/members/-` */
export function anyPath(path: string): string {
  return mapNames(path, () => "-");
}

/** Replaces the segments of a path that are names; the other segments are collections. */
function mapNames(path: string, map: (name: string) => string): string {
  const segments = path.split("/");
  return segments.map((segment, index) => (index % 2 === 1 ? map(segment) : segment)).join("/");
}

export function quote(code: string): string {
  return `\`${code}\``;
}

/** `a`, `a or b`, `a, b or c` */
export function either(items: readonly string[], word = "or"): string {
  const last = items.at(-1) ?? "";
  return items.length > 1 ? `${items.slice(0, -1).join(", ")} ${word} ${last}` : last;
}

/** `a Group`, `an Org` */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** Returns a field that only some resources have. */
export function when(holds: boolean, ...fields: readonly FieldForm[]): readonly FieldForm[] {
  return holds ? fields : [];
}

/** What access is made of can be read as it was. */
const withPast: ReadonlySet<string> = new Set(pastTypes);

export function momentFields({ message }: Resource): readonly FieldForm[] {
  return when(
    withPast.has(message.name),
    {
      name: "as_of_revision",
      type: "string",
      options: { "[buf.validate.field]": { string: { max_bytes: "64" } } },
      comment: "…",
    },
    { name: "as_of_time", type: "google.protobuf.Timestamp", comment: "…" },
  );
}

/** Returns the response type of a permanent Delete. It has a preview if access depends on the resource. */
export function nothingLeft({ affectsAccess }: Resource): string {
  return affectsAccess ? "iam.v1alpha.DeleteResponse" : "google.protobuf.Empty";
}
