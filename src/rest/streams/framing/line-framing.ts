import type { Framing, JsonWriter } from "./framing.ts";

/** JSON in lines, under each of its names; the first is the one to offer. */
export const lineTypes = ["application/x-ndjson", "application/jsonl", "application/ndjson"] as const;

/** One line of JSON for each message. An error is the last line: `{"error": ...}`. */
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
