import { clone, type DescField, type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { type FieldMask, FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { compilePathBuilder } from "../../../src/rest/routing/build-path.ts";
import type { HttpRule } from "../../../src/rest/routing/http-rules.ts";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";

interface EncodedRequest {
  readonly method: string;
  readonly path: string;
  /** Without "?"; empty if there is no query. */
  readonly query: string;
  /** JSON, or undefined if there is no body. */
  readonly body: string | undefined;
}

/** Thrown if a message cannot be encoded as a request of the rule. */
export class UnencodableError extends Error {
  override readonly name = "UnencodableError";
}

/**
 * Encodes a message as an HTTP request of a rule. Fields that are bound to neither path nor body are query parameters.
 *
 * @throws UnencodableError if no such request expresses the message.
 */
export function encodeRequest(desc: DescMessage, message: Message, rule: HttpRule): EncodedRequest {
  const template = parsePathTemplate(rule.path);
  // The fields that are not encoded yet.
  const rest = reflect(desc, clone(desc, message));
  const texts = template.variables.map(({ fieldPath }) => takePathText(rest, fieldPath));
  const path = compilePathBuilder(template)(texts);
  if (path === undefined) fail(`${JSON.stringify(texts)} does not fit ${rule.path}`);
  const body = takeBody(rest, rule);
  const parameters: string[] = [];
  if (rule.body !== "*") writeParameters(rest, "", template.variables, parameters);
  return { method: rule.httpMethod, path, query: parameters.join("&"), body };
}

function fail(problem: string): never {
  throw new UnencodableError(problem);
}

/** Returns the text of the field and clears it, so that it is encoded only once. */
function takePathText(message: ReflectMessage, fieldPath: readonly string[]): string {
  let holder = message;
  for (const name of fieldPath.slice(0, -1)) {
    const parent = fieldOf(holder.desc, name);
    if (parent.fieldKind !== "message" || !holder.isSet(parent)) return fail(`${name} is not set, but in the path`);
    holder = holder.get(parent);
  }
  const leaf = fieldOf(holder.desc, fieldPath.at(-1) ?? "");
  if (leaf.fieldKind !== "scalar" && leaf.fieldKind !== "enum") return fail(`${leaf.name} is not one value`);
  // A path always sets its variables.
  const hasPresence = leaf.presence !== FeatureSet_FieldPresence.IMPLICIT;
  if (hasPresence && !holder.isSet(leaf)) return fail(`${leaf.name} is not set, but in the path`);
  const text = writeText(leaf, holder.get(leaf));
  holder.clear(leaf);
  return text ?? fail(`${leaf.name} cannot be in a path`);
}

function takeBody(message: ReflectMessage, { body, httpMethod }: HttpRule): string | undefined {
  if (body === "") return undefined;
  if (body === "*") return JSON.stringify(toJson(message.desc, message.message));
  const field = fieldOf(message.desc, body);
  if (!message.isSet(field)) return undefined;
  const mask = message.desc.fields.find(({ name }) => name === "update_mask");
  if (httpMethod === "PATCH" && mask !== undefined && !message.isSet(mask)) fail("a mask would be inferred");
  const json = toJson(message.desc, message.message) as Record<string, object>;
  message.clear(field);
  return JSON.stringify(json[field.jsonName]);
}

/** Writes all fields that are set, under their JSON names. */
function writeParameters(
  message: ReflectMessage,
  prefix: string,
  taken: readonly { readonly fieldPath: readonly string[] }[],
  parameters: string[],
): void {
  const add = (name: string, text: string | undefined): void => {
    if (text === undefined) fail(`${name} holds messages, which a query cannot`);
    parameters.push(`${encode(name)}=${encode(text)}`);
  };
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const name = prefix + field.jsonName;
    if (field.fieldKind === "list") {
      for (const item of message.get(field)) add(name, writeText(field, item));
    } else if (field.fieldKind === "map") {
      for (const [key, value] of message.get(field)) add(`${name}[${String(key)}]`, writeText(field, value));
    } else if (field.fieldKind !== "message" || isText(field.message)) {
      add(name, writeText(field, message.get(field)));
    } else {
      const before = parameters.length;
      const inside = taken.flatMap(({ fieldPath: [first, ...names] }) =>
        first === field.name && names.length > 0 ? [{ fieldPath: names }] : [],
      );
      writeParameters(message.get(field), `${name}.`, inside, parameters);
      if (parameters.length === before && inside.length === 0) fail(`${name} is set, but empty`);
    }
  }
}

function fieldOf(desc: DescMessage, name: string): DescField {
  return desc.fields.find((field) => field.name === name) ?? fail(`${desc.typeName} has no field ${name}`);
}

/** Fails for a lone surrogate, which UTF-8 cannot encode. */
function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : fail("not Unicode text");
}

/** Returns the text of a value, an item or a map value; undefined if text cannot express it. */
function writeText(field: DescField, value: unknown): string | undefined {
  if (field.enum !== undefined) {
    const number = Number(value);
    return field.enum.value[number]?.name ?? String(number);
  }
  if (field.message === undefined) return writeScalar(value);
  return isText(field.message) ? writeMessage(value as ReflectMessage) : undefined;
}

function writeScalar(value: unknown): string {
  if (value instanceof Uint8Array) return base64Encode(value);
  return Object.is(value, -0) ? "-0" : String(value);
}

const jsonTypes = new Set(["Struct", "Value", "ListValue"].map((name) => `google.protobuf.${name}`));
const stringTypes = new Set(["Timestamp", "Duration"].map((name) => `google.protobuf.${name}`));

function isText(desc: DescMessage): boolean {
  return (
    desc.file.proto.name === "google/protobuf/wrappers.proto" ||
    desc.typeName === "google.protobuf.FieldMask" ||
    jsonTypes.has(desc.typeName) ||
    stringTypes.has(desc.typeName)
  );
}

function writeMessage(reflected: ReflectMessage): string {
  const { desc, message } = reflected;
  if (desc.typeName === "google.protobuf.FieldMask") {
    const { paths } = message as FieldMask;
    return paths.some((path) => /[^a-z_.*]/.test(path)) ? fail("a mask of other names") : paths.join(",");
  }
  if (jsonTypes.has(desc.typeName)) return JSON.stringify(toJson(desc, message));
  if (stringTypes.has(desc.typeName)) return JSON.stringify(toJson(desc, message)).slice(1, -1);
  const [value] = desc.fields;
  return value === undefined ? fail("no wrapper") : writeScalar(reflected.get(value));
}
