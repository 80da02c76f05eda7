// What the forms of several verbs share: http rules, fields, and phrases of comments.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Place, type Resource, fits } from "./resources.ts";

export interface MethodForm {
  readonly comment: string;
  /** As the JSON of protobuf writes it. */
  readonly http: JsonObject;
  /** The permission's verb. */
  readonly permission: string;
  /** What its authorization says beside that and the field of its path. */
  readonly authorization?: JsonObject;
  readonly request: MessageForm;
  /** The form of a message that is the method's own, or the full name of another one. */
  readonly response: MessageForm | string;
}

export interface MessageForm {
  readonly comment: string;
  readonly fields: readonly FieldForm[];
}

export interface FieldForm {
  readonly name: string;
  /** As a proto declares it, with the full names of messages: `repeated string`. */
  readonly type: string;
  /** As the JSON of protobuf writes them. */
  readonly options?: JsonObject;
  readonly comment: string;
}

export const required: JsonObject = { "[google.api.field_behavior]": ["REQUIRED"] };
const outputOnly: JsonObject = { "[google.api.field_behavior]": ["OUTPUT_ONLY"] };

/** Whether it is a Customer or an Org, which have no parent: their requests have no `parent_path`. */
export function isAtTop({ places }: Resource): boolean {
  return places.every(({ parent }) => parent === "");
}

/** A Role without a parent is predefined: it cannot be changed, and there are few, so only Get and List serve them. */
function isPredefined({ message }: Resource, { parent }: Place): boolean {
  return message.name === "Role" && parent === "";
}

export function hasPredefined(resource: Resource): boolean {
  return resource.places.some((place) => isPredefined(resource, place));
}

/** Where all verbs serve the resource. */
export function regularPlaces(resource: Resource): readonly Place[] {
  return resource.places.filter((place) => !isPredefined(resource, place));
}

/** The http rule that has these bindings, as the JSON of protobuf writes it. */
export function httpRule([first, ...others]: readonly JsonObject[]): JsonObject {
  return { ...first, ...(others.length > 0 && { additional_bindings: others }) };
}

export function urlOf({ parent, collection }: Place): string {
  return `/iam/v1alpha/{path=${anyOf(parent === "" ? `${collection}/-` : `${parent}/${collection}/-`)}}`;
}

export function collectionUrlOf({ parent, collection }: Place): string {
  return parent === "" ? `/iam/v1alpha/${collection}` : `/iam/v1alpha/{parent_path=${anyOf(parent)}}/${collection}`;
}

/** A pattern as http rules write it: `orgs/{org}` → `orgs/*`. */
function anyOf(pattern: string): string {
  return mapNames(pattern, () => "*");
}

export function pathField(resource: Resource, comment: string): FieldForm {
  const reference = { "[google.api.resource_reference]": { type: resource.type } };
  return { name: "path", type: "string", options: { ...required, ...reference }, comment };
}

export function pathsField(resource: Resource, after = ""): FieldForm {
  const below = isAtTop(resource) ? "" : ", all below `parent_path`";
  return {
    name: "paths",
    type: "repeated string",
    options: { ...pathField(resource, "").options, "[buf.validate.field]": { repeated: { max_items: "1000" } } },
    comment: `The ${resource.nouns[1]}, for example ${quote(resource.example)}: at most 1000${below}.${after}`,
  };
}

/**
 * The `parent_path` of a method that serves `places`.
 *
 * @param comment of the examples, and of what follows them when it may be empty.
 */
export function parentField(
  resource: Resource,
  places: readonly Place[],
  comment: (examples: string, orEmpty: string) => string,
): readonly FieldForm[] {
  if (isAtTop(resource)) return [];
  const mayBeEmpty = places.some(({ parent }) => parent === "");
  const orEmpty = `; empty for ${hasPredefined(resource) ? "the predefined ones" : "the platform"}`;
  const reference = { "[google.api.resource_reference]": { child_type: resource.type } };
  return [
    {
      name: "parent_path",
      type: "string",
      // Where a resource can be without a parent, an empty `parent_path` means just that.
      options: { ...(!mayBeEmpty && required), ...reference },
      comment: comment(either(parentExamples(resource).map(quote)), mayBeEmpty ? orEmpty : ""),
    },
  ];
}

/** The parents on the way to the example: of `orgs/acme/projects/web/roleBindings/a` the project, and the org too. */
export function parentExamples({ places, example }: Resource): readonly string[] {
  const parents = places.map(({ parent }) => parent).filter((parent) => parent !== "");
  return parents.flatMap((parent) => {
    const start = example.split("/").slice(0, parent.split("/").length).join("/");
    return fits(start, parent) ? [start] : [];
  });
}

/** The fields that every write ends with. */
export function writeFields(resource: Resource): readonly FieldForm[] {
  // A write of what access depends on can be previewed.
  const preview = resource.affectsAccess ? " with who would gain or lose access," : "";
  return [
    {
      name: "validate_only",
      type: "bool",
      comment: `Check the request and answer as if it were carried out,${preview} but change nothing.`,
    },
    {
      name: "request_id",
      type: "string",
      options: { "[buf.validate.field]": { ignore: "IGNORE_IF_ZERO_VALUE", string: { uuid: true } } },
      comment:
        "A UUID that you make for this request, for example `5f0c1d8e-3d0b-4b7a-9f51-6a2c8d1e7b30`. When the request is sent " +
        "again within a day with the same id, because its answer was lost, it is not carried out again: the answer is the same.",
    },
  ];
}

/** The field that holds the resource of a request. */
export function resourceField({ message, fieldNames }: Resource, comment: string): FieldForm {
  return { name: fieldNames[0], type: message.typeName, options: required, comment };
}

/** The field that holds the resources of an answer. */
export function resourcesField({ message, fieldNames }: Resource, comment: string): FieldForm {
  return { name: fieldNames[1], type: `repeated ${message.typeName}`, comment };
}

export const accessPreviewField: FieldForm = {
  name: "access_preview",
  type: "iam.v1alpha.AccessPreview",
  options: outputOnly,
  comment: "Who would gain or lose which access; only in the answer to `validate_only`.",
};

/** `orgs/acme/members/alice` → `orgs/acme/members/@<id>` */
export function byId(path: string): string {
  return path.replace(/[^/]+$/, "@<id>");
}

/** `orgs/acme/members/alice` → `orgs/-/members/-` */
export function anyPath(path: string): string {
  return mapNames(path, () => "-");
}

/** Replaces the segments of a path that name something; the others are collections. */
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

/** A field of some resources only. */
export function when(holds: boolean, field: FieldForm): readonly FieldForm[] {
  return holds ? [field] : [];
}

/** The answer to a Delete that leaves nothing of the resource. It has a preview where access depends on the resource. */
export function nothingLeft({ affectsAccess }: Resource): string {
  return affectsAccess ? "iam.v1alpha.DeleteResponse" : "google.protobuf.Empty";
}
