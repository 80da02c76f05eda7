import { type PageRequest, pageSizeOf } from "../resource/list-page.ts";
import type { PageTokens } from "../resource/page-token.ts";

interface PageOfIds {
  readonly ids: readonly string[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/**
 * A page of ids in their order.
 *
 * @param binding what the token is bound to: the method and all arguments but the page's size.
 * @param list answers the first `limit` ids after another one.
 */
export function pageOfIds(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
  list: (after: string | undefined, limit: number) => readonly string[],
): PageOfIds {
  const size = pageSizeOf(request);
  const [after] = request.pageToken === "" ? [] : tokens.decode(request.pageToken, binding);
  // One more than asked for tells whether there is a next page.
  const ids = list(after, size + 1);
  const last = ids[size - 1];
  if (ids.length <= size || last === undefined) return { ids, nextPageToken: "" };
  return { ids: ids.slice(0, size), nextPageToken: tokens.encode([last], binding) };
}
