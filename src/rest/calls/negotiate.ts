import Negotiator from "negotiator";
import { quote, RestError } from "../errors/rest-error.ts";
import type { RestRequest } from "./call-context.ts";

/** The maximum length of a header that is negotiated. Evaluating a longer one costs more than the rest of a call. */
const longest = 1024;

/**
 * Returns the media type that `Accept` prefers (RFC 9110, 12.5.1).
 *
 * @param offered media types in order of preference.
 * @throws RestError NOT_ACCEPTABLE if `Accept` allows none of them, HEADER_INVALID if it is too long.
 */
export function negotiateMediaType({ headers }: RestRequest, offered: readonly [string, ...string[]]): string {
  const { accept } = headers;
  if (accept === undefined || accept === "" || accept === "*/*" || accept === offered[0]) return offered[0];
  if (accept.length > longest)
    throw new RestError("HEADER_INVALID", `Accept must be at most ${longest} characters long`);
  const chosen = new Negotiator({ headers: { accept: withoutParameters(accept) } }).mediaType([...offered]);
  if (chosen !== undefined) return chosen;
  throw new RestError("NOT_ACCEPTABLE", `Accept must allow ${offered.join(" or ")}, got ${quote(accept)}`);
}

/**
 * Removes the parameters of media types other than their weights. A media type with a parameter matches only if it is offered with
 * the parameter, but clients name charsets and versions of JSON that mean what they get anyway.
 */
function withoutParameters(accept: string): string {
  return accept.replaceAll(/;\s*(?!q=)[\w.+-]+\s*=\s*("[^"]*"|[^;,"]*)/gi, "");
}

export type ContentCoding = "br" | "gzip" | "identity";

/**
 * Returns the content coding that `Accept-Encoding` prefers (RFC 9110, 12.5.3). Of codings with the same weight, the first
 * in the header wins.
 */
export function negotiateCoding({ headers }: RestRequest): ContentCoding {
  const accepted = headers["accept-encoding"];
  if (accepted === undefined || accepted === "identity" || accepted.length > longest) return "identity";
  const negotiator = new Negotiator({ headers: { "accept-encoding": accepted } });
  return (negotiator.encoding(["br", "gzip", "identity"]) as ContentCoding | undefined) ?? "identity";
}
