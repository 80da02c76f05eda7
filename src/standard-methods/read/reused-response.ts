// A response that a method returns to one call after another may be encoded once. The handler says so beside the message, in the
// context of the call: nothing about a message itself shows whether it will change.
import type { Message } from "@bufbuild/protobuf";
import { type HandlerContext, createContextKey } from "@connectrpc/connect";

const reusedKey = createContextKey<Message | undefined>(undefined, { description: "the response that is reused" });

type HasValues = Pick<HandlerContext, "values">;

/** Says that later calls may get the same message as this one, and that it does not change until then. */
export function markReused(message: Message, { values }: HasValues): void {
  values.set(reusedKey, message);
}

/** Reports whether the handler of a call has marked this message. An interceptor may have replaced the one that it returned. */
export function isReused(message: Message, { values }: HasValues): boolean {
  return values.get(reusedKey) === message;
}
