import { jsonType } from "../../calls/encode-response.ts";
import type { Framing, JsonWriter } from "./framing.ts";

/** Writes one JSON array. An error is the last element, the only one with a member `error` as in AIP-193. */
export function createArrayFraming(write: JsonWriter): Framing {
  let isFirst = true;
  function element(json: string): string {
    const separator = isFirst ? "" : ",";
    isFirst = false;
    return separator + json;
  }
  return {
    contentType: () => jsonType,
    headers: { vary: "accept" },
    opening: "[",
    frame: (message) => element(write(message)),
    closing: "]",
    failure: (error) => `${element(error)}]`,
    heartbeat: undefined,
  };
}
