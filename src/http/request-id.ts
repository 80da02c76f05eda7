import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the id of a request for logs and responses: the caller's `x-request-id` if it is valid, or else a new UUID. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && acceptable.test(given) ? given : randomUUID();
}
