// Compares the standard methods of every resource with the forms of their verbs.
import { isDeepStrictEqual } from "node:util";
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  type JsonObject,
  ScalarType,
  createFileRegistry,
  toJson,
} from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  FieldOptionsSchema,
  type FileDescriptorSet,
  MessageOptionsSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import type { FieldForm, MessageForm, MethodForm } from "./form-parts.ts";
import { forms, methodName, verbs, verbsOf } from "./forms.ts";
import { type Declared, createSourceReader } from "./image.ts";
import { type Resource, readResources } from "./resources.ts";

/** A difference between a proto and its form. */
export interface Difference {
  /** The path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** `ListProjects`, `ListProjectsRequest` or `ListProjectsRequest.page_size`. */
  readonly where: string;
  /** What differs: `comment`, `type`, the name of an option in brackets and so on. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export function formatDifference({ file, line, where, what, expected, found }: Difference): string {
  return `${file}:${line}: ${where}: ${what}\n  expected: ${expected}\n  found:    ${found}`;
}

export function checkForms(set: FileDescriptorSet): Difference[] {
  const registry = createFileRegistry(set);
  const sourceOf = createSourceReader();
  const differences: Difference[] = [];
  const compare: Compare = (desc, what, expected, found) => {
    if (expected === found) return;
    const { file, line } = sourceOf(desc);
    differences.push({ file, line, where: nameOf(desc), what, expected, found });
  };
  const compareComment: CompareComment = (desc, expected) => {
    const { comment } = sourceOf(desc);
    if (!toPattern(expected).test(comment)) compare(desc, "comment", expected, comment || nothing);
  };
  const checker = { registry, compare, compareComment };
  for (const resource of readResources(registry, sourceOf)) checkResource(checker, resource);
  return differences;
}

type Compare = (desc: Declared, what: string, expected: string, found: string) => void;
type CompareComment = (desc: Declared, expected: string) => void;

interface Checker {
  readonly registry: FileRegistry;
  /** Records a difference if the values are not equal. */
  readonly compare: Compare;
  readonly compareComment: CompareComment;
}

const nothing = "nothing";

function checkResource(checker: Checker, resource: Resource): void {
  const { message, example } = resource;
  const path = message.fields.find(({ name }) => name === "path");
  if (example === "") {
    const patterns = resource.patterns.map((pattern) => `/${pattern}`).join(" or ");
    checker.compare(path ?? message, "example in the comment", patterns, nothing);
    return;
  }
  const methods = [...checker.registry].flatMap((desc) =>
    desc.kind === "service" && desc.file.proto.package === message.file.proto.package ? desc.methods : [],
  );
  const wanted = verbsOf(resource);
  for (const verb of verbs) {
    const name = methodName(verb, resource);
    const method = methods.find((each) => each.name === name);
    const isWanted = wanted.includes(verb);
    checker.compare(method ?? message, "method", isWanted ? name : nothing, method?.name ?? nothing);
    if (method !== undefined && isWanted) checkMethod(checker, method, resource, forms[verb](resource));
  }
}

/** The type of a resource that a provider runs decides about its permissions, but a BatchGet reads resources of any type. */
function permissionsOf({ isRunByProvider, permissions }: Resource, method: string): string {
  return isRunByProvider && !method.startsWith("BatchGet") ? "{service}.{collection}" : permissions;
}

/** The verbs of permissions that every caller has on the catalog. */
const reads: ReadonlySet<string> = new Set(["get", "list"]);

function checkMethod(checker: Checker, method: DescMethod, resource: Resource, form: MethodForm): void {
  const { name, input, output } = method;
  const ownName = (suffix: string): string => `${resource.message.file.proto.package}.${name}${suffix}`;
  const response = typeof form.response === "string" ? form.response : ownName("Response");
  const target = form.request.fields[0]?.name ?? "";
  checker.compareComment(method, form.comment);
  checker.compare(method, "kind", "unary", method.methodKind);
  checker.compare(method, "request", ownName("Request"), input.typeName);
  checker.compare(method, "response", response, output.typeName);
  const isOpen = resource.isInCatalog && reads.has(form.permission);
  const authorization = {
    ...(isOpen ? { anyone: true } : { permission: `${permissionsOf(resource, name)}.${form.permission}` }),
    ...(["path", "parent_path"].includes(target) && { path_field: target }),
    ...form.authorization,
    ...(resource.isDecided && { open_to_members: true }),
  };
  const isRead = "get" in form.http;
  const options = {
    ...(isRead && { idempotency_level: "NO_SIDE_EFFECTS" }),
    "[google.api.http]": form.http,
    "[iam.v1alpha.authorization]": authorization,
  };
  compareOptions(checker, method, options, optionsOf(checker, method));
  if (input.typeName === ownName("Request")) checkMessage(checker, input, asRequest(form.request));
  if (typeof form.response !== "string" && output.typeName === response) checkMessage(checker, output, form.response);
}

/** Every field of a request says how the request uses it: the fields that a form does not require are optional. */
function asRequest({ comment, fields }: MessageForm): MessageForm {
  const behavior = { "[google.api.field_behavior]": ["OPTIONAL"] };
  return { comment, fields: fields.map((field) => ({ ...field, options: { ...behavior, ...field.options } })) };
}

function checkMessage(checker: Checker, message: DescMessage, form: MessageForm): void {
  checker.compareComment(message, form.comment);
  compareOptions(checker, message, {}, optionsOf(checker, message));
  const found = message.fields.map(({ name }) => name);
  const expected = form.fields.map(({ name }) => name);
  checker.compare(message, "fields", expected.join(", "), found.join(", "));
  for (const [index, fieldForm] of form.fields.entries()) {
    const field = message.fields.find(({ name }) => name === fieldForm.name);
    if (field !== undefined) checkField(checker, field, fieldForm, index + 1);
  }
}

function checkField(checker: Checker, field: DescField, form: FieldForm, number: number): void {
  checker.compareComment(field, form.comment);
  checker.compare(field, "number", String(number), String(field.number));
  checker.compare(field, "type", form.type, typeOf(field));
  checker.compare(field, "name in JSON", protoCamelCase(form.name), field.jsonName);
  compareOptions(checker, field, form.options ?? {}, optionsOf(checker, field));
}

function compareOptions({ compare }: Checker, desc: Declared, expected: JsonObject, found: JsonObject): void {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    if (isDeepStrictEqual(expected[name], found[name])) continue;
    compare(desc, name, JSON.stringify(expected[name]) ?? nothing, JSON.stringify(found[name]) ?? nothing);
  }
}

/** Returns all options of a declaration in Protobuf's JSON form, with proto field names. */
function optionsOf({ registry }: Checker, desc: Declared): JsonObject {
  const as = { registry, useProtoFieldName: true };
  switch (desc.kind) {
    case "message":
      return desc.proto.options ? (toJson(MessageOptionsSchema, desc.proto.options, as) as JsonObject) : {};
    case "field":
      return desc.proto.options ? (toJson(FieldOptionsSchema, desc.proto.options, as) as JsonObject) : {};
    case "rpc":
      return desc.proto.options ? (toJson(MethodOptionsSchema, desc.proto.options, as) as JsonObject) : {};
  }
}

/** Returns the type as a proto declares it, with full names of messages. */
function typeOf(field: DescField): string {
  const type = field.message ?? field.enum;
  const name =
    type?.typeName ?? (field.scalar === undefined ? field.fieldKind : ScalarType[field.scalar].toLowerCase());
  if (field.fieldKind === "map") return `map<${ScalarType[field.mapKey].toLowerCase()}, ${name}>`;
  if (field.oneof !== undefined) return `${name} in oneof ${field.oneof.name}`;
  if (field.fieldKind === "list") return `repeated ${name}`;
  return field.proto.proto3Optional ? `optional ${name}` : name;
}

/** Returns a pattern for the comments that a form allows: `…` in backticks matches any code, elsewhere any text or none. */
function toPattern(form: string): RegExp {
  const escaped = form.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("`…`", "`[^`]+`").replaceAll("…", ".*")}$`);
}

function nameOf(desc: Declared): string {
  return desc.kind === "field" ? `${desc.parent.name}.${desc.name}` : desc.name;
}
