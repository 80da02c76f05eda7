import { quote, RestError } from "../errors/rest-error.ts";

/**
 * An entity tag (RFC 9110, 8.8.3). Weak and strong tags are treated alike: a tag identifies a revision of a resource, not
 * the bytes of a response, so the weak tag of a compressed response is equivalent to the strong one.
 */
export interface EntityTag {
  /** The tag without its quotes: the value of the `etag` field of the resource. */
  readonly value: string;
}

/** Matches etags that can be written into a header: visible ASCII without quotes, since a quote ends a tag. */
const writable = /^[!#-~]+$/;

/** Returns the `ETag` header for an etag; undefined if the etag is empty or cannot be written as an entity tag. */
export function formatEntityTag(etag: string, isWeak: boolean): string | undefined {
  if (!writable.test(etag)) return undefined;
  return isWeak ? `W/"${etag}"` : `"${etag}"`;
}

/**
 * Parses a list of entity tags or "*". Tags without quotes are accepted too, because many clients omit them.
 *
 * @throws RestError HEADER_INVALID
 */
export function parseEntityTags(header: string, text: string): "*" | EntityTag[] {
  if (text.trim() === "*") return "*";
  const tags: EntityTag[] = [];
  const item = /\s*(?:(?:W\/)?"([!#-~]*)"|([^\s,"]+))\s*(?:,|$)/y;
  do {
    const [found, quoted, bare] = item.exec(text) ?? [];
    const value = quoted ?? bare;
    if (found === undefined || value === undefined) {
      throw new RestError("HEADER_INVALID", `${header} must hold entity tags such as "3f7a", got ${quote(text)}`);
    }
    tags.push({ value });
  } while (item.lastIndex < text.length);
  return tags;
}
