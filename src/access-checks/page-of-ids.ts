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
 * @param keeps whether an id is to be shown; others are passed over, and the page is filled up.
 */
export function pageOfIds(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
  list: (after: string | undefined, limit: number) => readonly string[],
  keeps: (id: string) => boolean,
): PageOfIds {
  const size = pageSizeOf(request);
  let [after] = request.pageToken === "" ? [] : tokens.decode(request.pageToken, binding);
  const ids: string[] = [];
  // One more than asked for tells whether there is a next page.
  while (ids.length <= size) {
    const found = list(after, size + 1);
    ids.push(...found.filter(keeps));
    if (found.length <= size) break;
    after = found.at(-1);
  }
  const last = ids[size - 1];
  if (ids.length <= size || last === undefined) return { ids, nextPageToken: "" };
  return { ids: ids.slice(0, size), nextPageToken: tokens.encode([last], binding) };
}
