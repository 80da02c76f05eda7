import type { Message } from "@bufbuild/protobuf";
import type { Framing, JsonWriter } from "./framing.ts";

export const eventType = "text/event-stream";

/** Names an event, for `Last-Event-ID`; undefined for one after which a client cannot go on. */
export type EventId = (message: Message) => string | undefined;

/**
 * Server-sent events (WHATWG HTML, 9.2). An EventSource connects again whenever an answer ends, so the end is an event
 * too, `end`, at which it can be closed. An error is the event `error`, with the body of an error answer as its data.
 *
 * @param eventId without it, events are counted from 1.
 */
export function createEventFraming(write: JsonWriter, eventId: EventId | undefined): Framing {
  let count = 0;
  const idOf = eventId ?? ((): string => String(++count));
  return {
    contentType: () => eventType,
    // The header is nginx's, which else holds back what it thinks is the middle of a page.
    headers: { vary: "accept", "cache-control": "no-store", "x-accel-buffering": "no" },
    opening: "",
    frame: (message) => `${idLine(idOf(message))}data: ${write(message)}\n\n`,
    closing: "event: end\ndata: {}\n\n",
    failure: (error) => `event: error\ndata: ${error}\n\n`,
    heartbeat: ":\n\n",
  };
}

/** @throws Error for an id that would end its line, or with NUL, which clients pass over. */
function idLine(id: string | undefined): string {
  if (id === undefined) return "";
  if (/[\r\n\0]/.test(id)) throw new Error(`an event id must be one line without NUL, got ${JSON.stringify(id)}`);
  return `id: ${id}\n`;
}
