import type { Message } from "@bufbuild/protobuf";
import type { EncodedMessage } from "../../calls/encode-response.ts";
import type { Framing } from "./framing.ts";

/**
 * Writes the bytes of google.api.HttpBody messages. The first message determines the content type. There is no way to
 * write an error.
 */
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
