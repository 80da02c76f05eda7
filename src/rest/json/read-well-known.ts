import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonReadOptions,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { quote } from "../errors/rest-error.ts";
import { readMask } from "../field-paths.ts";
import { compileCreator } from "./create-message.ts";
import { findWrapped, hasJsonFormOfItsOwn } from "./json-forms.ts";
import { misreadCheck } from "./misread-text.ts";
import { NumberText } from "./number-text.ts";
import { parseTimestamp } from "./parse-timestamp.ts";
import { toPlainJson } from "./plain-json.ts";
import { compileScalarReader } from "./read-scalar.ts";
import { RefusedValue } from "./refused-value.ts";
import { setOwn } from "./set-own.ts";

type MessageReader = (json: JsonValue) => Message;

/**
 * Compiles the reader of a message with a special JSON form. Returns undefined for other messages.
 *
 * @param readerOf returns the readers of the messages in a google.protobuf.Any.
 */
export function compileWellKnownReader(
  desc: DescMessage,
  options: Partial<JsonReadOptions>,
  readerOf: (desc: DescMessage) => MessageReader,
): MessageReader | undefined {
  if (!hasJsonFormOfItsOwn(desc)) return undefined;
  const wrapped = findWrapped(desc);
  if (wrapped !== undefined) {
    const createMessage = compileCreator(desc);
    const read = compileScalarReader(wrapped, false);
    return (json) => {
      const message = createMessage();
      if (json !== null) message["value"] = read(json);
      return message as unknown as Message;
    };
  }
  const readAsReference: MessageReader = (json) => fromJson(desc, json, options);
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return compileTimestampReader(desc.typeName, refuseMisread(desc, readAsReference));
    case "google.protobuf.Duration":
      return refuseMisread(desc, readAsReference);
    case "google.protobuf.FieldMask":
      return readFieldMask;
    case "google.protobuf.Any":
      return (json) => readAny(json, options, readerOf);
    default:
      return (json) => readAsReference(toPlainJson(json));
  }
}

function refuseMisread(desc: DescMessage, read: MessageReader): MessageReader {
  const isMisread = misreadCheck(desc);
  return (json) => {
    if (typeof json === "string" && isMisread?.(json)) throw new Error(`cannot decode ${desc.toString()} from JSON`);
    return read(json);
  };
}

function compileTimestampReader(typeName: string, readOther: MessageReader): MessageReader {
  return (json) => {
    const time = typeof json === "string" ? parseTimestamp(json) : undefined;
    return time === undefined
      ? readOther(json)
      : ({ $typeName: typeName, seconds: time.seconds, nanos: time.nanos } as Message);
  };
}

/** Reads paths of JSON names, such as `displayName`. Those with an underscore would not be read back as they are written. */
function readFieldMask(json: JsonValue): Message {
  if (typeof json !== "string") throw new Error("cannot decode google.protobuf.FieldMask from JSON");
  const paths = json.isWellFormed() ? readMask(json, "JSON") : undefined;
  if (paths === undefined) {
    const expected =
      "comma-separated field paths with the names of JSON, such as name,displayName, and other keys of maps in backticks";
    throw new RefusedValue(`must be ${expected}, got ${quote(json)}`);
  }
  return create(FieldMaskSchema, { paths });
}

/** Reads a message and its type: `{"@type": "type.googleapis.com/library.v1.Book", "title": "x"}`. */
function readAny(
  json: JsonValue,
  { registry }: Partial<JsonReadOptions>,
  readerOf: (desc: DescMessage) => MessageReader,
): Any {
  if (typeof json !== "object" || json === null || Array.isArray(json) || json instanceof NumberText) {
    throw new Error("cannot decode google.protobuf.Any from JSON: it is not an object");
  }
  if (Object.keys(json).length === 0) return create(AnySchema);
  const { desc, url, content } = openAny(json, registry);
  return { ...anyPack(desc, readerOf(desc)(content)), typeUrl: url };
}

/**
 * Returns the type and the JSON of the message in a google.protobuf.Any. The name of the type follows the last slash of its URL.
 *
 * @throws RefusedValue if the type is missing or not known.
 */
export function openAny(
  json: JsonObject,
  registry: JsonReadOptions["registry"],
): { readonly desc: DescMessage; readonly url: string; readonly content: JsonValue } {
  const url = json["@type"];
  const name = typeof url === "string" && url.includes("/") ? url.slice(url.lastIndexOf("/") + 1) : "";
  const desc = name === "" ? undefined : registry?.getMessage(name);
  if (desc === undefined || typeof url !== "string") {
    const got = typeof url === "string" ? `the unknown type ${quote(url)}` : "no such text";
    throw new RefusedValue(
      `must have the "@type" of a message of this service, type.googleapis.com/<name>, got ${got}`,
    );
  }
  if (hasJsonFormOfItsOwn(desc)) {
    const other = Object.keys(json).find((key) => key !== "@type" && key !== "value");
    if (json["value"] === undefined || other !== undefined) {
      throw new RefusedValue(
        `must have "@type" and "value" alone, because ${desc.typeName} has a JSON form of its own`,
      );
    }
    return { desc, url, content: json["value"] };
  }
  // Other implementations write it like a message with a form of its own.
  if (desc.typeName === "google.protobuf.Empty" && Object.keys(json).length === 2 && json["value"] !== undefined) {
    return { desc, url, content: json["value"] };
  }
  const content: JsonObject = {};
  for (const key of Object.keys(json)) if (key !== "@type") setOwn(content, key, json[key]);
  return { desc, url, content };
}
