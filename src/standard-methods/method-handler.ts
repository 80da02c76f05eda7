import { type DescField, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { authorOf, callerOf, orgOf, slicesOf } from "../access/evaluation/call.ts";
import { invalidField } from "../errors/service-error.ts";
import { type WriteRequest, fingerprintOf } from "./write/write-call.ts";

/** A message's fields by local name. */
export type Fields = Readonly<Record<string, unknown>>;

export type Handler = (request: Fields, context: HandlerContext) => Promise<Message>;

/**
 * Adds the handler of the method whose name is the verb and the resource's name in singular or plural, if the service has one.
 */
export type AddHandler = (verb: string, noun: "one" | "many", make: (method: DescMethod) => Handler) => void;

const zeroUuid = "00000000-0000-0000-0000-000000000000";

/**
 * Reads the fields that all write requests share.
 *
 * @throws ServiceError FIELD_INVALID for a request id of zeros, which nobody has chosen at random (AIP-155).
 */
export function readWriteRequest(method: DescMethod, request: object, context: HandlerContext): WriteRequest {
  const { requestId, validateOnly, allowMissing, force } = request as Fields;
  const author = authorOf(context);
  if (requestId === zeroUuid) {
    throw invalidField("request_id", "must be a random UUID, not the one of zeros", "request_id.zero");
  }
  return {
    author,
    caller: callerOf(context),
    slices: slicesOf(context),
    org: orgOf(context),
    signal: () => context.signal,
    remainingMs: () => context.timeoutMs(),
    requestId: String(requestId).toLowerCase(),
    validateOnly: validateOnly === true,
    allowMissing: allowMissing === true,
    force: force === true,
    answer: method.output,
    fingerprint: () => fingerprintOf(author.method, method.input, request as Message),
  };
}

/** @throws Error when the message has no such field. */
export function fieldOfType(desc: DescMessage, type: DescMessage, kind: "list" | "message"): DescField {
  const field = desc.fields.find((candidate) => candidate.fieldKind === kind && candidate.message === type);
  if (field === undefined) throw new Error(`${desc.typeName} has no field for ${type.typeName}`);
  return field;
}
