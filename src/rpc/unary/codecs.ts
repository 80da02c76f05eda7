import {
  type DescMessage,
  type DescMethod,
  type Message,
  type Registry,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { compileMessageDecoder } from "../../rest/binding/decode-message.ts";
import { RestError } from "../../rest/errors/rest-error.ts";
import { readJsonBody } from "../../rest/json/read-json-body.ts";
import { createJsonWriters } from "../../rest/json/write-json.ts";
import type { ItemLimitOf } from "../../rest/limits/item-limit.ts";
import { compileJsonItemCheck } from "../../rest/limits/json-item-check.ts";
import { compileBinaryItemCheck } from "./binary-item-check.ts";
import { inOwnMemory } from "../../rest/calls/in-own-memory.ts";

/** Reads the requests of a method and writes its responses. */
export interface Codec {
  /** @throws RestError BODY_MALFORMED or FIELD_INVALID */
  read(bytes: Buffer): Message;
  readonly write: WriteResponse;
}

export type Encoding = "proto" | "json";

/**
 * Creates a function that returns the codec of a method. JSON is read as by REST, which refuses what protobuf-es would misread,
 * and written with the names of JSON and without fields that hold their default values, as protobuf-es does. JSON codecs are
 * compiled when they are first used.
 *
 * @param maxDepth the maximum depth of JSON.
 * @param itemLimitOf limits the lists and maps of long messages.
 * @param registry resolves the types of google.protobuf.Any in JSON.
 */
export function createCodecs(
  maxDepth: number,
  itemLimitOf: ItemLimitOf,
  registry?: Registry,
): (method: DescMethod, encoding: Encoding) => Codec {
  const writers = createJsonWriters({ alwaysEmitImplicit: false, useProtoFieldName: false, registry });
  const json = new Map<DescMethod, Codec>();
  const proto = new Map<DescMethod, Codec>();

  const compileJson = ({ input, output }: DescMethod): Codec => {
    const checkItems = compileJsonItemCheck(input, undefined, itemLimitOf, maxDepth);
    const decode = compileMessageDecoder(input, false, "", registry);
    const write = writers.message(output);
    return {
      read: (bytes) => decode(readJsonBody(bytes, maxDepth, checkItems)),
      write: keepEncoding((message) => Buffer.from(JSON.stringify(write(message)))),
    };
  };

  const compileProto = ({ input, output }: DescMethod): Codec => {
    const checkItems = compileBinaryItemCheck(input, itemLimitOf);
    return {
      read(bytes) {
        checkItems(bytes);
        return readProto(input, bytes);
      },
      write: keepEncoding((message) => toBinary(output, message)),
    };
  };

  return (method, encoding) => {
    const [known, compile] = encoding === "json" ? [json, compileJson] : [proto, compileProto];
    const codec = known.get(method) ?? compile(method);
    known.set(method, codec);
    return codec;
  };
}

function readProto(desc: DescMessage, bytes: Buffer): Message {
  try {
    return fromBinary(desc, bytes);
  } catch (cause) {
    throw new RestError("BODY_MALFORMED", `the request is no ${desc.typeName} in Protobuf's binary format`, { cause });
  }
}

/** @param isReused whether later calls get the same message, unchanged. */
type WriteResponse = (message: Message, isReused: boolean) => Uint8Array;

function keepEncoding(write: (message: Message) => Uint8Array): WriteResponse {
  const kept = new WeakMap<Message, Uint8Array>();
  return (message, isReused) => {
    if (!isReused) return write(message);
    const known = kept.get(message);
    if (known !== undefined) return known;
    const bytes = inOwnMemory(write(message));
    kept.set(message, bytes);
    return bytes;
  };
}
