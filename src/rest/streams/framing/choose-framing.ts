import type { RestRequest } from "../../calls/call-context.ts";
import { type EncodedMessage, jsonType, type ResponseEncoder } from "../../calls/encode-response.ts";
import { negotiateMediaType } from "../../calls/negotiate.ts";
import type { Alt, Presentation } from "../../calls/system-parameters.ts";
import { invalidFields } from "../../errors/rest-error.ts";
import { createArrayFraming } from "./array-framing.ts";
import { createBytesFraming } from "./bytes-framing.ts";
import { createEventFraming, type EventId, eventType } from "./event-framing.ts";
import type { Framing } from "./framing.ts";
import { createLineFraming, lineTypes } from "./line-framing.ts";

const typeOfAlt: Readonly<Record<Alt, string>> = { json: jsonType, ndjson: lineTypes[0], sse: eventType };

/**
 * Returns the framing that the caller requests with `$alt` or, if that is not set, with `Accept`. A stream of
 * google.api.HttpBody is always framed as bytes.
 *
 * @throws RestError NOT_ACCEPTABLE, HEADER_INVALID for an `Accept` that is too long, or FIELD_INVALID for an `$alt` on a
 *   stream of google.api.HttpBody.
 */
export function chooseFraming(
  request: RestRequest,
  encoder: ResponseEncoder,
  presentation: Presentation,
  eventId: EventId | undefined,
): Framing {
  const { alt } = presentation;
  if (!encoder.isJson) {
    if (alt !== undefined) throw invalidFields([{ field: "$alt", description: `is not accepted here, got ${alt}` }]);
    return createBytesFraming((message) => encoder.encode(message, presentation, false));
  }
  const type = alt === undefined ? negotiateMediaType(request, [jsonType, ...lineTypes, eventType]) : typeOfAlt[alt];
  if (type === jsonType) return createArrayFraming((message) => toText(encoder.encode(message, presentation, false)));
  // Indentation is not supported here, because a line break would end the line or the event.
  const inOneLine = { ...presentation, pretty: false };
  const write = (message: Parameters<ResponseEncoder["encode"]>[0]): string =>
    toText(encoder.encode(message, inOneLine, false));
  return type === eventType ? createEventFraming(write, eventId) : createLineFraming(type, write);
}

function toText({ body }: EncodedMessage): string {
  return typeof body === "string" ? body : Buffer.from(body).toString();
}
