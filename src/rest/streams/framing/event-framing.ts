import type { Message } from "@bufbuild/protobuf";
import type { Framing, JsonWriter } from "./framing.ts";

export const eventType = "text/event-stream";

/** Returns the id of an event, for `Last-Event-ID`; undefined if a client cannot resume after the event. */
export type EventId = (message: Message) => string | undefined;

/**
 * Writes server-sent events (WHATWG HTML, 9.2). An EventSource reconnects whenever a response ends, so the end is written
 * as the event `end`, at which clients can close it. An error is the event `error` with the body of an error response as
 * its data.
 *
 * @param eventId if undefined, events are counted from 1.
 */
export function createEventFraming(write: JsonWriter, eventId: EventId | undefined): Framing {
  let count = 0;
  const idOf = eventId ?? ((): string => String(++count));
  return {
    contentType: () => eventType,
    // X-Accel-Buffering: no keeps nginx from buffering the response.
    headers: { vary: "accept", "cache-control": "no-store", "x-accel-buffering": "no" },
    opening: "",
    frame: (message) => `${idLine(idOf(message))}data: ${write(message)}\n\n`,
    closing: "event: end\ndata: {}\n\n",
    failure: (error) => `event: error\ndata: ${error}\n\n`,
    heartbeat: ":\n\n",
  };
}

/** @throws Error if the id contains a line break, or NUL, since clients ignore such ids. */
function idLine(id: string | undefined): string {
  if (id === undefined) return "";
  if (/[\r\n\0]/.test(id)) throw new Error(`an event id must be one line without NUL, got ${JSON.stringify(id)}`);
  return `id: ${id}\n`;
}
