import type { DescMethod } from "@bufbuild/protobuf";

/** Since when a method is deprecated. */
export interface Deprecation {
  readonly since: Date;
  /** When the method may be gone; undefined if that is not decided. */
  readonly sunset?: Date | undefined;
  /** What to use instead. */
  readonly replacement?: string | undefined;
  /** Where the deprecation is explained: an absolute URL, or a path on the server. */
  readonly link?: string | undefined;
}

export type DeprecationOf = (method: DescMethod) => Deprecation | undefined;

/** Returns the headers that tell callers: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594), with a `Link` of these relation types. */
export function deprecationHeaders({ since, sunset, link }: Deprecation): Readonly<Record<string, string>> {
  const links = [`<${link}>; rel="deprecation"`, ...(sunset === undefined ? [] : [`<${link}>; rel="sunset"`])];
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    ...(sunset !== undefined && { sunset: sunset.toUTCString() }),
    ...(link !== undefined && { link: links.join(", ") }),
  };
}
