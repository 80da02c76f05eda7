import { jsonType } from "../../calls/encode-response.ts";
import type { Framing, JsonWriter } from "./framing.ts";

/** One JSON array. An error is its last element: the only one that has a member `error` of AIP-193's form. */
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
