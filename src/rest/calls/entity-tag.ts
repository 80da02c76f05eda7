import { quote, RestError } from "../errors/rest-error.ts";

/**
 * An entity tag (RFC 9110, 8.8.3) of two parts: the `etag` of the resource, which stands for what a write of it changes, and a digest
 * of the body, because a body also shows what other resources are called. Weak and strong tags are treated alike: the weak tag of a
 * compressed response stands for the same body as the strong one.
 */
export interface EntityTag {
  /** The tag without its quotes. */
  readonly value: string;
  readonly etag: string;
}

/** Matches etags that can be written into a header: visible ASCII without quotes, since a quote ends a tag. */
const writable = /^[!#-~]+$/;

const secondPart = /~[\w-]{22}$/;

/**
 * Returns the entity tag of a body; undefined if the etag of its resource is empty or cannot be written as one.
 *
 * @param digest of 22 characters, of base64url.
 */
export function entityTagOf(etag: string, digest: () => string): EntityTag | undefined {
  return writable.test(etag) ? { value: `${etag}~${digest()}`, etag } : undefined;
}

export function formatEntityTag({ value }: EntityTag, isWeak: boolean): string {
  return isWeak ? `W/"${value}"` : `"${value}"`;
}

/** Whether tags are of the same resource, as it was last written: what `If-Match` asks for. */
export function isOfSameWrite(one: EntityTag, other: EntityTag): boolean {
  return one.etag === other.etag;
}

/** Whether tags are of the same body: what `If-None-Match` asks for. */
export function isOfSameBody(one: EntityTag, other: EntityTag): boolean {
  return one.value === other.value;
}

/**
 * Parses a list of entity tags or "*". Tags without quotes are accepted too, because many clients omit them, and tags without the
 * second part, which are the value of an `etag` field.
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
    tags.push({ value, etag: value.replace(secondPart, "") });
  } while (item.lastIndex < text.length);
  return tags;
}
