import { createContextKey } from "@connectrpc/connect";
import type { CallRecord } from "./call-record.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";

/** How a request that is being handled counts for the pace of its address. */
export interface RequestPace {
  /** Says that the caller of the request is known and keeps its rates, so that the request does not count as anonymous. */
  readonly markKnown: () => void;
  /**
   * Counts what the request does after its start, such as to answer one message of many, as a number of anonymous requests.
   *
   * @returns the time to wait for that, in milliseconds; 0 for none.
   */
  readonly take: (count: number) => number;
}

/** Answers a request that has waited, if it had to, for the pace of its address. */
export type PacedHandler = (
  request: HttpRequest,
  response: HttpResponse,
  pace: RequestPace,
  record: CallRecord,
) => void | Promise<void>;

/** Of requests that count for no pace. */
export const unpaced: RequestPace = { markKnown: () => undefined, take: () => 0 };

export const paceKey = createContextKey<RequestPace>(unpaced, { description: "the pace of the request" });
