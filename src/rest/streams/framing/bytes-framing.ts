import type { Message } from "@bufbuild/protobuf";
import type { EncodedMessage } from "../../calls/encode-response.ts";
import type { Framing } from "./framing.ts";

/** The bytes of google.api.HttpBody messages. The first says what they are; bytes cannot say that something failed. */
export function createBytesFraming(encode: (message: Message) => EncodedMessage): Framing {
  let contentType: string | undefined;
  return {
    contentType: () => contentType,
    headers: {},
    opening: "",
    frame(message) {
      const encoded = encode(message);
      contentType ??= encoded.contentType;
      return encoded.body;
    },
    closing: "",
    failure: () => undefined,
    heartbeat: undefined,
  };
}
