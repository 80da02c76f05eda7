import type { Message } from "@bufbuild/protobuf";
import { inOwnMemory } from "../rest/calls/in-own-memory.ts";

/** Returns a function that encodes frozen messages, which methods return again and again, once. */
export function keepForFrozen(write: (message: Message) => Uint8Array): (message: Message) => Uint8Array {
  const kept = new WeakMap<Message, Uint8Array>();
  return (message) => {
    if (!Object.isFrozen(message)) return write(message);
    const bytes = kept.get(message) ?? inOwnMemory(write(message));
    kept.set(message, bytes);
    return bytes;
  };
}
