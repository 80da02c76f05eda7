import type { IncomingHttpHeaders } from "node:http";
import { v7 as uuidv7 } from "uuid";

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** The id under which a request is logged and answered: the caller's `x-request-id`, or a new UUIDv7. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && acceptable.test(given) ? given : uuidv7();
}
