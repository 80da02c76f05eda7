import type { Message } from "@bufbuild/protobuf";

/** How the messages of one answer are written one after the other. It may count them: each answer has its own. */
export interface Framing {
  /** Of the answer; undefined as long as the first message has not said it. */
  contentType(): string | undefined;
  /** Other headers that the form needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** What comes before the first message. */
  readonly opening: string;
  /** @throws Error when the message cannot be written. */
  frame(message: Message): string | Uint8Array;
  /** What ends an answer whose method is done. */
  readonly closing: string;
  /**
   * What ends an answer that fails on the way, when its status has been sent already; undefined when the form has nothing
   * to say it with.
   *
   * @param error the body that an error answer would have had.
   */
  failure(error: string): string | undefined;
  /** What says that the answer goes on, when nothing else has said so for long; undefined when the form has none. */
  readonly heartbeat: string | undefined;
}

/** Writes a message as JSON without line breaks, unless indentation was asked for. */
export type JsonWriter = (message: Message) => string;
