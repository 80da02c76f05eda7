import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** The id under which a request is logged and answered: the caller's `x-request-id`, or a new UUID. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && acceptable.test(given) ? given : randomUUID();
}
