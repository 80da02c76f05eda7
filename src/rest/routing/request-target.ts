import { decodePercent, findBrokenEscape } from "./percent-encoding.ts";
import { RestError } from "../errors/rest-error.ts";

interface RequestTarget {
  /** Starts with "/". The path is percent-encoded, and its encoding is valid. */
  readonly path: string;
  /** The query without its "?"; empty if there is none. */
  readonly query: string;
}

/**
 * Splits the target of a request into path and query. The target may contain scheme and host, as sent to proxies.
 *
 * @throws RestError URL_MALFORMED or URL_TOO_LONG
 */
export function parseRequestTarget(target: string, maxLength = Number.POSITIVE_INFINITY): RequestTarget {
  if (target.length > maxLength) {
    throw new RestError("URL_TOO_LONG", `path and query must be at most ${maxLength} characters long together`);
  }
  const relative = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = relative.indexOf("?");
  const path = mark === -1 ? relative : relative.slice(0, mark);
  if (!path.startsWith("/")) throw new RestError("URL_MALFORMED", 'the path must start with "/"');
  if (decodePercent(path) === undefined) {
    const { offset, problem } = findBrokenEscape(path);
    throw new RestError("URL_MALFORMED", `the path is broken at character ${offset}: ${problem}`);
  }
  return { path, query: mark === -1 ? "" : relative.slice(mark + 1) };
}
