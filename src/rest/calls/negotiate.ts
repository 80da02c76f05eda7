import Negotiator from "negotiator";
import { quote, RestError } from "../errors/rest-error.ts";
import type { RestRequest } from "./call-context.ts";

/** Weighing what is longer costs more than the rest of a call. */
const longest = 1024;

/**
 * The media type among `offered`, best first, that `Accept` prefers (RFC 9110, 12.5.1).
 *
 * @throws RestError NOT_ACCEPTABLE when it takes none of them.
 */
export function negotiateMediaType({ headers }: RestRequest, offered: readonly [string, ...string[]]): string {
  const { accept } = headers;
  if (accept === undefined || accept === "*/*" || accept === offered[0]) return offered[0];
  if (accept.length > longest)
    throw new RestError("HEADER_INVALID", `Accept must be at most ${longest} characters long`);
  // A parameter must be offered to be accepted, and many name the charset that JSON has anyway.
  const variants = offered.flatMap((type) => [type, `${type};charset=utf-8`]);
  const chosen = new Negotiator({ headers: { accept } }).mediaType(variants);
  if (chosen !== undefined) return chosen.replace(";charset=utf-8", "");
  throw new RestError("NOT_ACCEPTABLE", `Accept must allow ${offered.join(" or ")}, got ${quote(accept)}`);
}

export type ContentCoding = "br" | "gzip" | "identity";

/** The content coding that `Accept-Encoding` prefers (RFC 9110, 12.5.3); of equal ones that which it names first. */
export function negotiateCoding({ headers }: RestRequest): ContentCoding {
  const accepted = headers["accept-encoding"];
  if (accepted === undefined || accepted === "identity" || accepted.length > longest) return "identity";
  const negotiator = new Negotiator({ headers: { "accept-encoding": accepted } });
  return (negotiator.encoding(["br", "gzip", "identity"]) as ContentCoding | undefined) ?? "identity";
}
