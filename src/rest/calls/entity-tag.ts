import { quote, RestError } from "../errors/rest-error.ts";

/**
 * An entity tag of RFC 9110, 8.8.3. Whether it is weak makes no difference here: it names a revision of a resource and
 * not the bytes of an answer, so one that came with a compressed answer (and is weak for that) is as good as another.
 */
export interface EntityTag {
  /** Without its quotes: what the resource's `etag` field holds. */
  readonly value: string;
}

/** Whether an etag can be written into a header: visible ASCII without a quote, which ends a tag. */
const writable = /^[!#-~]+$/;

/** The `ETag` header of a resource; undefined when its etag is empty or cannot be written as one. */
export function formatEntityTag(etag: string, isWeak: boolean): string | undefined {
  if (!writable.test(etag)) return undefined;
  return isWeak ? `W/"${etag}"` : `"${etag}"`;
}

/**
 * Reads a list of entity tags or "*". A tag that lacks its quotes is taken as it is, as many write it.
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
