// protobuf-es reads 30 February as 2 March and rounds integers, and has no option against that. The handlers of connect-es convert the
// bytes of every JSON message to text with a `textDecoder`, and pass the text to protobuf-es. The decoder in this file reads the text as
// REST does, throws the error that REST would send, and returns text that protobuf-es cannot misread. Connect's types do not declare
// the option `textDecoder` for routers; the tests over all protocols show that it works.
import { create, type DescMessage, type DescMethod, type Registry, toJson } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { type ConnectRouter, createServiceImplSpec, type MethodImpl } from "@connectrpc/connect";
import { compileMessageDecoder } from "./binding/decode-message.ts";
import { quote, RestError } from "./errors/rest-error.ts";
import { toFailure } from "./errors/to-failure.ts";
import { decodeUtf8, parseJson } from "./json/parse-json.ts";
import { createJsonWriters } from "./json/write-json.ts";

interface StrictJsonOptions {
  readonly jsonOptions: { readonly ignoreUnknownFields: boolean; readonly registry?: Registry | undefined };
  readonly maxJsonDepth: number;
  /** The `domain` in the ErrorInfo of errors. */
  readonly errorDomain: string;
}

/**
 * Returns a router that registers methods with `router`, so that their JSON requests over Connect, gRPC and gRPC-Web are read
 * as by REST, and refused with the same errors.
 */
export function withStrictJson(router: ConnectRouter, options: StrictJsonOptions): ConnectRouter {
  const strict: ConnectRouter = {
    handlers: router.handlers,
    service(service, implementation, own) {
      const { methods } = createServiceImplSpec(service, implementation);
      for (const { method, impl } of Object.values(methods)) strict.rpc(method, impl as MethodImpl<DescMethod>, own);
      return strict;
    },
    rpc(method, implementation, own) {
      const jsonOptions = { ...options.jsonOptions, ...own?.jsonOptions };
      const textDecoder = createStrictDecoder(method.input, { ...options, jsonOptions });
      const withDecoder = { ...jsonOptions, textDecoder };
      router.rpc(method, implementation, { ...own, jsonOptions: withDecoder });
      return strict;
    },
  };
  return strict;
}

/** Creates a decoder of UTF-8 that throws a ConnectError for the JSON of a message that REST refuses. */
function createStrictDecoder(input: DescMessage, { jsonOptions, maxJsonDepth, errorDomain }: StrictJsonOptions) {
  const { ignoreUnknownFields, registry } = jsonOptions;
  const decodeMessage = compileMessageDecoder(input, ignoreUnknownFields, "", registry);
  const writers = createJsonWriters({ alwaysEmitImplicit: false, useProtoFieldName: false, registry, writePaths });
  let write: ReturnType<typeof writers.message> | undefined;
  return {
    decode(bytes: Uint8Array = new Uint8Array()): string {
      try {
        const text = decodeUtf8(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
        write ??= writers.message(input);
        return JSON.stringify(write(decodeMessage(parseJson(text, maxJsonDepth))));
      } catch (error) {
        throw error instanceof RestError ? toFailure(error, errorDomain).error : error;
      }
    },
  };
}

/**
 * Writes the paths of a field mask as protobuf-es reads them.
 *
 * @throws Error for a key of a map that it would change: it takes each comma for the end of a path, and each capital for an underscore.
 */
function writePaths(paths: readonly string[]): string {
  const odd = paths.find((path) => path.includes(","));
  if (odd !== undefined)
    throw new Error(`in JSON over this protocol, a path of a field mask has no comma, got ${quote(odd)}`);
  return toJson(FieldMaskSchema, create(FieldMaskSchema, { paths: [...paths] }));
}
