import type { Message } from "@bufbuild/protobuf";

/** Defines how the messages of one response are written. A framing may have state, so each response has its own. */
export interface Framing {
  /** Returns the content type of the response; undefined if it is not known before the first message. */
  contentType(): string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly opening: string;
  /** @throws Error if the message cannot be written. */
  frame(message: Message): string | Uint8Array;
  readonly closing: string;
  /**
   * Returns the text that ends a response with an error after its status has been sent; undefined if the framing cannot
   * express errors.
   *
   * @param error the body of the corresponding error response.
   */
  failure(error: string): string | undefined;
  /** The text that keeps a silent response alive; undefined if the framing has none. */
  readonly heartbeat: string | undefined;
}

/** Writes a message as JSON, without line breaks unless indentation was requested. */
export type JsonWriter = (message: Message) => string;
