import type { Cursor, PageTokens } from "./page-token.ts";

const defaultPageSize = 50;
const maxPageSize = 1000;

/** The paging fields of a List request (AIP-158). */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** How many items a page has at most: what was asked for, within bounds. */
export function pageSizeOf({ pageSize }: Pick<PageRequest, "pageSize">): number {
  return pageSize === 0 ? defaultPageSize : Math.min(pageSize, maxPageSize);
}

/**
 * Reads one page by its key, not by its offset: a row that exists throughout, and keeps what the list is ordered by, is on
 * exactly one page, whatever is written in between.
 *
 * @param binding what the token is bound to: the method and all arguments but the page's size.
 * @param read answers the first `limit` rows after the cursor.
 */
export async function listPage<Row>(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
  read: (after: Cursor | undefined, limit: number) => Promise<Row[]>,
  cursorOf: (row: Row) => Cursor,
): Promise<Page<Row>> {
  const after = request.pageToken === "" ? undefined : tokens.decode(request.pageToken, binding);
  const size = pageSizeOf(request);
  // One row more than asked for tells whether there is a next page.
  const rows = await read(after, size + 1);
  const last = rows[size - 1];
  if (rows.length <= size || last === undefined) return { rows, nextPageToken: "" };
  return { rows: rows.slice(0, size), nextPageToken: tokens.encode(cursorOf(last), binding) };
}
