import type { Steps } from "../../scheduling/steps.ts";
import type { Cursor, PageTokens } from "./page-token.ts";

const defaultPageSize = 50;
const maxPageSize = 1000;

/** The paging fields of a List request (AIP-158). */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** The fields of a List request, without the parent. */
export interface ListRequest extends PageRequest {
  readonly showDeleted?: boolean;
  readonly filter: string;
  readonly orderBy: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Returns the maximum number of items on a page: the requested size, within limits. */
function pageSizeOf({ pageSize }: Pick<PageRequest, "pageSize">): number {
  return pageSize === 0 ? defaultPageSize : Math.min(pageSize, maxPageSize);
}

/**
 * Reads a page by key, not by offset. A row that exists during the whole iteration, and whose order columns do not change, is
 * on exactly one page, whatever is written between the requests.
 *
 * @param binding what the token is bound to: the method and all arguments except the page size.
 * @param read returns the first `limit` rows after the cursor.
 * @param isLeftOut whether a row, and those after it, are left to the next page, because the page is long enough without it. The first
 *   one is not.
 */
export async function listPage<Row>(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
  read: (after: Cursor | undefined, limit: number) => Promise<Row[]>,
  cursorOf: (row: Row) => Cursor,
  isLeftOut: (row: Row) => boolean = () => false,
): Promise<Page<Row>> {
  const { after, size } = positionOf(tokens, request, binding);
  const rows = await read(after, size + 1);
  const fitting = rows.findIndex(isLeftOut);
  return pageOf(tokens, binding, fitting > 0 ? Math.min(fitting, size) : size, rows, cursorOf);
}

/**
 * Lists a page of ids that are in memory, in their order and in steps.
 *
 * @param binding what the token is bound to: the method and all arguments except the page size.
 * @param read returns the first `limit` ids after a given id.
 */
export function* listPageOfIds(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
  read: (after: string | undefined, limit: number) => Steps<readonly string[]>,
): Steps<Page<string>> {
  const { after, size } = positionOf(tokens, request, binding);
  return pageOf(tokens, binding, size, yield* read(after?.[0], size + 1), (id) => [id]);
}

/** Returns where a page begins, and how many items it has at most. */
export function positionOf(
  tokens: PageTokens,
  request: PageRequest,
  binding: readonly string[],
): { readonly after: Cursor | undefined; readonly size: number } {
  const after = request.pageToken === "" ? undefined : tokens.decode(request.pageToken, binding);
  return { after, size: pageSizeOf(request) };
}

/** @param rows at most one more than fit on the page; that one shows that there is a next page. */
function pageOf<Row>(
  tokens: PageTokens,
  binding: readonly string[],
  size: number,
  rows: readonly Row[],
  cursorOf: (row: Row) => Cursor,
): Page<Row> {
  const last = rows[size - 1];
  if (rows.length <= size || last === undefined) return { rows, nextPageToken: "" };
  return { rows: rows.slice(0, size), nextPageToken: tokens.encode(cursorOf(last), binding) };
}
