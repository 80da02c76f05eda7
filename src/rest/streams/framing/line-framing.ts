import type { Framing, JsonWriter } from "./framing.ts";

/** The media types of JSON lines. The first one is preferred. */
export const lineTypes = ["application/x-ndjson", "application/jsonl", "application/ndjson"] as const;

/** Writes each message as one line of JSON. An error is the last line: `{"error": ...}`. */
export function createLineFraming(contentType: string, write: JsonWriter): Framing {
  return {
    contentType: () => contentType,
    headers: { vary: "accept" },
    opening: "",
    frame: (message) => `${write(message)}\n`,
    closing: "",
    failure: (error) => `${error}\n`,
    heartbeat: undefined,
  };
}
