// Writes gen/command-line.ts: the collections, fields and verbs of the API with the first sentences of their comments, from which the
// command line makes its commands, help and tables.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  ScalarType,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { resource, resource_reference } from "../gen/google/api/resource_pb.ts";
import { OrgSchema } from "../gen/iam/v1alpha/org_pb.ts";
import { shares_id } from "../gen/iam/v1alpha/resource_options_pb.ts";
import type { Contract, Field, FieldType, FilePart, Method } from "../src/cli/client/contract/contract.ts";
import { sharedFields } from "../src/cli/client/contract/shared-fields.ts";
import { predefinedRoleNames } from "../src/iam/roles/predefined-roles.ts";
import { fileFieldsOf, fileForms } from "../src/org-files/file-resources.ts";
import { type FileSection, expectKey, fileSections } from "../src/org-files/file-sections.ts";
import { isImmutable, isOutputOnly, isRequired } from "../src/rest/openapi/field-behavior.ts";
import { createCommentReader, firstSentence } from "../src/rest/openapi/read-comments.ts";
import { readHttpRules } from "../src/rest/routing/http-rules.ts";
import { type PathTemplate, parsePathTemplate } from "../src/rest/routing/path-template.ts";
import { buildRegistry } from "./proto-image.ts";

const root = join(import.meta.dirname, "..");
const registry = buildRegistry();
const readComment = createCommentReader();
const messages: Record<string, readonly Field[]> = {};
const namedBy: Record<string, readonly [field: string, path: string]> = {};
/** The messages that are named by the last part of their names alone. */
const named = new Map<string, DescMessage>();

const helpOf = (desc: DescField | DescMethod): string => firstSentence(readComment(desc));

function integerOrNumber(type: ScalarType): FieldType {
  return type === ScalarType.DOUBLE || type === ScalarType.FLOAT ? "number" : "integer";
}

function scalarType(type: ScalarType): FieldType {
  if (type === ScalarType.STRING || type === ScalarType.BYTES) return "string";
  return type === ScalarType.BOOL ? "boolean" : integerOrNumber(type);
}

/** Returns the names of the values of an enum, without the one that says that there is none. */
function valuesOf({ values }: DescEnum): readonly string[] {
  return values.filter(({ name }) => !name.endsWith("_UNSPECIFIED")).map(({ name }) => name);
}

function messageType({ typeName }: DescMessage): FieldType {
  switch (typeName) {
    case "google.protobuf.Timestamp":
      return "time";
    case "google.protobuf.Duration":
      return "duration";
    case "google.protobuf.FieldMask":
      return "string";
    default:
      return "json";
  }
}

function typeOf(field: DescField): FieldType {
  switch (field.fieldKind) {
    case "scalar":
      return scalarType(field.scalar);
    case "enum":
      return valuesOf(field.enum);
    case "message":
      return messageType(field.message);
    case "list":
      if (field.listKind === "enum") return valuesOf(field.enum);
      return field.listKind === "scalar" ? scalarType(field.scalar) : messageType(field.message);
    case "map":
      if (field.mapKind === "enum") return valuesOf(field.enum);
      return field.mapKind === "scalar" ? scalarType(field.scalar) : messageType(field.message);
  }
}

function modeOf(field: DescField): Field["mode"] {
  if (isOutputOnly(field)) return "output";
  if (isRequired(field)) return "required";
  return isImmutable(field) ? "immutable" : undefined;
}

function fieldOf(field: DescField): Field {
  const { fieldKind, name } = field;
  const shape = fieldKind === "list" || fieldKind === "map" ? { shape: fieldKind } : {};
  const mode = modeOf(field);
  return { name, type: typeOf(field), ...shape, ...(mode && { mode }), help: helpOf(field) };
}

function addMessage(message: DescMessage): string {
  const { name } = message;
  const other = named.get(name);
  if (other === message) return name;
  if (other !== undefined) throw new Error(`${message.typeName} and ${other.typeName} have the same name`);
  named.set(name, message);
  messages[name] = message.fields.map(fieldOf);
  if (hasOption(message, resource) && getOption(message, shares_id)) namedBy[name] = namedByOf(message);
  return name;
}

/** Returns the field of a resource with the path of the one after which it is named, and that one's pattern. */
function namedByOf(message: DescMessage): readonly [field: string, path: string] {
  const field = message.fields.find((each) => isRequired(each) && hasOption(each, resource_reference));
  const type = field && getOption(field, resource_reference).type;
  for (const desc of registry) {
    if (desc.kind !== "message" || !hasOption(desc, resource) || getOption(desc, resource).type !== type) continue;
    const [pattern = ""] = getOption(desc, resource).pattern;
    if (field !== undefined) return [field.name, pattern.replaceAll(/\{\w+\}/g, "*")];
  }
  throw new Error(`${message.typeName} shares its id, and no field says with what`);
}

function verbOf({ name }: DescMethod, { verb, segments }: PathTemplate): string {
  if (verb !== "") return verb;
  const [, standard] = /^(Get|List|Create|Update|Delete)[A-Z]/.exec(name) ?? [];
  if (standard === undefined)
    throw new Error(
      `${name} has no verb: it is not called as the AIPs say, and ${segments.length} segments follow none`,
    );
  return standard.toLowerCase();
}

function* methodsOf(method: DescMethod): Generator<Method> {
  const { name, input, output } = method;
  for (const { httpMethod, path, body } of readHttpRules(method)) {
    const template = parsePathTemplate(path);
    const [area, version, ...rest] = template.segments.map((each) =>
      each.kind === "literal" ? each.value : each.kind,
    );
    const inPath = new Set(template.variables.map(({ fieldPath }) => fieldPath[0]));
    const verb = verbOf(method, template);
    // What can be asked with GET has a second address for requests that are too long for it.
    if (verb.startsWith("batchGet") && httpMethod === "POST") continue;
    const bodyField = input.fields.find((field) => field.name === body);
    const items = output.fields.find((field) => field.fieldKind === "list");
    const isList = items !== undefined && output.fields.some((field) => field.name === "next_page_token");
    yield {
      name,
      verb,
      http: httpMethod,
      base: `/${area ?? ""}/${version ?? ""}/`,
      path: rest.join("/"),
      suffix: template.verb === "" ? "" : `:${template.verb}`,
      body,
      ...(bodyField?.message && { resource: addMessage(bodyField.message) }),
      fields: input.fields
        .filter((field) => !inPath.has(field.name) && field !== bodyField)
        .map((field) => (Object.hasOwn(sharedFields, field.name) ? field.name : fieldOf(field))),
      ...(isList
        ? { items: items.name, ...(items.message && { item: addMessage(items.message) }) }
        : { output: addMessage(output) }),
      help: helpOf(method),
    };
  }
}

const methods: Method[] = [];
for (const desc of registry) {
  if (desc.kind !== "service" || !/^(iam|resources)\./.test(desc.typeName)) continue;
  for (const method of desc.methods) methods.push(...methodsOf(method));
}

/** Writes the entries of an object, in the order of their keys, each item of a list on a line of its own. */
const write = (record: Readonly<Record<string, unknown>>): string =>
  Object.entries(record)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `    ${key}: ${writeValue(value)},\n`)
    .join("");

function writeValue(value: unknown): string {
  if (!Array.isArray(value) || typeof value[0] !== "object") return JSON.stringify(value);
  return `[\n${value.map((each) => `      ${JSON.stringify(each)},\n`).join("")}    ]`;
}

/** Returns a section of the file of an org, with the fields of what its entries are. */
function filePart({ key, help, type, contents = [] }: FileSection): FilePart {
  const schema = type && fileForms[type].schema;
  const fields = schema === undefined ? [] : fileFieldsOf(schema).map(({ name }) => name);
  const parts = contents.map(filePart);
  return { key, help, ...(schema && { message: knownMessage(schema) }), fields, parts };
}

/** Methods take or return each resource of a file. */
function knownMessage({ name }: DescMessage): string {
  if (!Object.hasOwn(messages, name)) throw new Error(`no method takes or returns ${name}, which files have`);
  return name;
}

const file: FilePart = {
  key: "",
  help: "The file of an org",
  message: knownMessage(OrgSchema),
  fields: fileFieldsOf(OrgSchema).flatMap(({ name }) => (name === "name" ? [] : [name])),
  parts: [
    ...fileSections.map(filePart),
    {
      key: expectKey,
      help: 'What must be true then, such as "alice may iam.projects.update on web"',
      fields: [],
      parts: [],
    },
  ],
};

const contract: Contract = { methods, messages, namedBy, predefinedRoles: predefinedRoleNames, file };

writeFileSync(
  join(root, "gen/command-line.ts"),
  `// Made by scripts/command-line.ts from the protos. Do not edit.
import type { Contract } from "../src/cli/client/contract/contract.ts";

/** What the command line knows of the API. */
export const contract: Contract = {
  methods: [
${contract.methods.map((each) => `    ${JSON.stringify(each)},\n`).join("")}  ],
  messages: {
${write(contract.messages)}  },
  namedBy: {
${write(contract.namedBy)}  },
  predefinedRoles: ${JSON.stringify(contract.predefinedRoles)},
  file: ${JSON.stringify({ ...file, parts: [] }).slice(0, -2)}
${file.parts.map((part) => `    ${JSON.stringify(part)},\n`).join("")}  ]},
};
`,
);
