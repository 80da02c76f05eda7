import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  type MessageShape,
  isMessage,
} from "@bufbuild/protobuf";
import type { FieldMask, Timestamp } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { authorOf, callerOf, orgOf, slicesOf } from "../access/evaluation/call.ts";
import { invalidField } from "../errors/service-error.ts";
import type { ListRequest } from "./read/list-page.ts";
import { joinedOf } from "./write/joined-write.ts";
import { type WriteRequest, fingerprintOf } from "./write/write-call.ts";

/** The fields that requests of writes share. A request has those of its method. */
interface WriteFields {
  readonly requestId: string;
  readonly validateOnly: boolean;
  readonly allowMissing: boolean;
  readonly force: boolean;
}

/** The fields of the requests of standard methods, as the AIPs name them. A request has those of its method. */
interface StandardRequest extends Message, ListRequest, WriteFields {
  readonly parentPath?: string;
  readonly paths: readonly string[];
  readonly etags: readonly string[];
  readonly requests: readonly StandardRequest[];
  readonly updateMask?: FieldMask;
  readonly etag: string;
  readonly asOfRevision?: string;
  readonly asOfTime?: Timestamp;
}

export type Handler = (request: StandardRequest, context: HandlerContext) => Promise<Message>;

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
export function readWriteRequest(
  method: DescMethod,
  request: Message & Partial<WriteFields>,
  context: HandlerContext,
): WriteRequest {
  const { requestId = "", validateOnly = false, allowMissing = false, force = false } = request;
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
    requestId: requestId.toLowerCase(),
    validateOnly,
    allowMissing,
    force,
    joined: joinedOf(context.values),
    answer: method.output,
    fingerprint: () => fingerprintOf(author.method, method.input, request),
  };
}

/** @throws Error when the message has no such field. */
export function fieldOfType(desc: DescMessage, type: DescMessage, kind: "list" | "message"): DescField {
  const field = desc.fields.find((candidate) => candidate.fieldKind === kind && candidate.message === type);
  if (field === undefined) throw new Error(`${desc.typeName} has no field for ${type.typeName}`);
  return field;
}

/** Returns the name of the field of a request that holds the resource, and a function that reads it. */
export function resourceField<Desc extends DescMessage>(input: DescMessage, schema: Desc) {
  const { name, localName } = fieldOfType(input, schema, "message");
  const read = (request: object): MessageShape<Desc> => {
    const value: unknown = Reflect.get(request, localName);
    if (!isMessage(value, schema)) throw new Error(`a ${input.typeName} without ${name}`);
    return value;
  };
  return { name, read };
}
