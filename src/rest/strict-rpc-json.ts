// protobuf-es moves 30 February to 2 March, and it has no option against that. The handlers of connect-es read all JSON in one
// place, for all protocols: after they have limited and decompressed a message, they convert its bytes to text with a
// `textDecoder`, and pass the text to protobuf-es. The decoder here reads the text as REST does, and throws what REST
// would respond with. Connect's types do not declare the option for routers; the tests over all protocols show that it works.
import type { DescMessage, DescMethod, JsonValue } from "@bufbuild/protobuf";
import { type ConnectRouter, createServiceImplSpec, type MethodImpl } from "@connectrpc/connect";
import { compileMessageDecoder } from "./binding/decode-message.ts";
import { RestError } from "./errors/rest-error.ts";
import { toFailure } from "./errors/to-failure.ts";
import { canBeMisread } from "./json/misread-text.ts";

interface StrictJsonOptions {
  /** The JSON options of the router. */
  readonly jsonOptions: { readonly ignoreUnknownFields: boolean };
  /** The `domain` in the ErrorInfo of errors. */
  readonly errorDomain: string;
}

/**
 * Returns a router that registers methods with `router`, so that their JSON requests over Connect, gRPC and gRPC-Web are
 * refused if REST would refuse them, with the same error: dates that do not exist, and durations with text after their unit.
 * Methods whose requests contain neither times nor durations are registered unchanged.
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
      if (!canBeMisread(method.input)) {
        router.rpc(method, implementation, own);
        return strict;
      }
      const jsonOptions = { ...options.jsonOptions, ...own?.jsonOptions };
      const textDecoder = createStrictDecoder(method.input, jsonOptions.ignoreUnknownFields, options.errorDomain);
      const withDecoder = { ...jsonOptions, textDecoder };
      router.rpc(method, implementation, { ...own, jsonOptions: withDecoder });
      return strict;
    },
  };
  return strict;
}

/** Creates a decoder of UTF-8 that throws a ConnectError for the JSON of a message that REST refuses. */
function createStrictDecoder(input: DescMessage, ignoreUnknownFields: boolean, errorDomain: string) {
  const utf8 = new TextDecoder();
  const decodeMessage = compileMessageDecoder(input, ignoreUnknownFields);
  return {
    decode(bytes?: Uint8Array): string {
      const text = utf8.decode(bytes);
      const json = tryParse(text);
      try {
        if (json !== undefined) decodeMessage(json);
      } catch (error) {
        throw error instanceof RestError ? toFailure(error, errorDomain).error : error;
      }
      return text;
    },
  };
}

/** Returns undefined for text that is not JSON, which protobuf-es refuses. */
function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
