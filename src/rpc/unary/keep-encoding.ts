import type { Message } from "@bufbuild/protobuf";
import { inOwnMemory } from "../../rest/calls/in-own-memory.ts";

/** @param isReused whether later calls get the same message, unchanged. */
export type WriteResponse = (message: Message, isReused: boolean) => Uint8Array;

/** Returns a function that encodes a reused message only once. */
export function keepEncoding(write: (message: Message) => Uint8Array): WriteResponse {
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
