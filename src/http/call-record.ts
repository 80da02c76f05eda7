// What the access log says of a call besides its request: who made it, and how it ended.
import type { DescMethod } from "@bufbuild/protobuf";
import { createContextKey } from "@connectrpc/connect";
import type { Trace } from "../tracing/tracing.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";

/** What is known of a request when its response has ended. Those who handle it add what they find out. */
export interface CallRecord {
  /** The address of the client. */
  address?: string;
  /** The method that is called, and the protocol: `rest`, `connect`, `grpc` or `grpc-web`. */
  method?: DescMethod;
  protocol?: string;
  /**
   * The code of its error, by its name and the HTTP status that stands for it; undefined for a call that did not fail. Over gRPC and
   * gRPC-Web, the status of the response is 200.
   */
  failure?: { readonly name: string; readonly http: number };
  caller?: RecordedCaller;
  /** Undefined if nothing is traced. */
  trace?: Trace;
}

/** Who makes a call, by ids. */
interface RecordedCaller {
  readonly orgId: string;
  readonly memberId: string;
  /** The API key or the session of the call. */
  readonly credentialId: string;
  readonly impersonator: { readonly memberId: string } | undefined;
}

/** Answers a request, and adds to its record. */
export type RecordingHandler = (
  request: HttpRequest,
  response: HttpResponse,
  record: CallRecord,
) => void | Promise<void>;

/** The context key of the record of a call; undefined if the call is part of another one. */
export const callRecordKey = createContextKey<CallRecord | undefined>(undefined, {
  description: "the record of the call",
});

const recordKey = Symbol("the record of the request");

/** Attaches a record to its request, for those who answer the request without a call. */
export function attachRecord(request: HttpRequest, record: CallRecord): void {
  (request as { [recordKey]?: CallRecord })[recordKey] = record;
}

/** Notes who makes a request that is answered without a call. */
export function noteCaller(request: HttpRequest, caller: RecordedCaller): void {
  const record = (request as { [recordKey]?: CallRecord })[recordKey];
  if (record !== undefined) record.caller = caller;
}

/** Notes the error with which a request is answered. */
export function noteFailure(request: HttpRequest, failure: NonNullable<CallRecord["failure"]>): void {
  const record = (request as { [recordKey]?: CallRecord })[recordKey];
  if (record !== undefined) record.failure = failure;
}
