import type { DescMessage } from "@bufbuild/protobuf";
import type { RawBuilder, SqlBool } from "kysely";
import type { Visibility } from "../../access/evaluation/visibility.ts";
import type { KnownStatement } from "../../database/connection-pool.ts";
import { cursorOf, withUniqueKey } from "../../filters/keyset.ts";
import { parseOrderBy } from "../../filters/parse-order-by.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { restrictedBy, toSql } from "../../filters/to-sql.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type ResourceRow, type ResourceTable, endOf, isBelowOrg } from "../definition/definition.ts";
import { type ListRequest, type Page, listPage } from "./list-page.ts";
import { orgRevisionIn, orgRevisionStatement } from "./org-revision.ts";
import type { Cursor } from "./page-token.ts";
import { uniqueKeyOf } from "./row-reader.ts";
import { countIn, countStatement } from "../rows/counts.ts";
import type { ServedResource } from "../rules.ts";
import { readInTime } from "./read-in-time.ts";
import { listFieldsOf } from "./list-fields.ts";

/** A page, with the total number of resources if it is known, and the revision of the org if the list is of one. */
interface CountedPage<Row> extends Page<Row> {
  readonly totalSize: number | undefined;
  /** Of the first page; empty for another list. */
  readonly revision: string;
  /** The earliest time at which one of its rows ends. */
  readonly endsAt: number;
}

/** What a list may show. */
interface Shown {
  readonly visible: Visibility;
  /** Undefined if the rules of the resource do not limit it. */
  readonly rows: RawBuilder<SqlBool> | undefined;
}

/** @param timeoutMs returns the time until the deadline of the call. */
export type ListMethod<Row> = (
  parent: readonly Reference[],
  request: ListRequest,
  shown: Shown,
  timeoutMs: () => number | undefined,
) => Promise<CountedPage<Row>>;

/**
 * Creates the List method of a resource (AIP-132, 158, 160).
 *
 * @param counts whether responses have a `total_size`, where the total is known.
 */
export function createListMethod<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, place, rules, reader, dependencies }: ServedResource<Table, Row, Desc>,
  counts: boolean,
): ListMethod<Row> {
  const { database, pageTokens } = dependencies;
  const { type } = definition;
  const fields = listFieldsOf(definition, place);
  const uniqueKey = uniqueKeyOf(definition, place);
  const isInOrg = isBelowOrg(place);

  /** Returns the statement that reads the total size of a list; undefined if it has several parents. */
  const totalOf = (parent: readonly Reference[]): KnownStatement | undefined => {
    // What is in no org is stored in a fixed one.
    const orgId = rules.scope.kind === "fixed" ? rules.scope.org : parent[0];
    const parentId = parent.at(-1);
    if (orgId?.by !== "id" || parentId?.by !== "id") return undefined;
    return countStatement(type, orgId.value, parentId.value);
  };

  return async (path, request, { visible, rows: shownRows }, timeoutMs) => {
    const { showDeleted = false, filter, orderBy } = request;
    const filtered = toSql(readFilter(filter, fields));
    const condition = shownRows === undefined ? filtered : restrictedBy(filtered, shownRows);
    const order = withUniqueKey(parseOrderBy(orderBy, fields), uniqueKey);
    const parent = await reader.resolveParent(path, visible);
    const binding = [type, formatReferences(place.pattern, parent), String(showDeleted), filter, orderBy];
    const isWhole = counts && !showDeleted && filter === "" && shownRows === undefined;
    const total = isWhole ? totalOf(parent) : undefined;
    const [org] = parent;
    const head = isInOrg && org?.by === "id" ? orgRevisionStatement(org.value) : undefined;
    let totalSize: number | undefined;
    let revision = "";
    let endsAt = Infinity;
    const read = async (position: Cursor | undefined, limit: number): Promise<Row[]> => {
      const [after, revisionOfFirst] = splitCursor(position, order.length);
      const select = { parent, showDeleted, visible, condition, order, after, limit };
      const page = reader.pageStatement(select);
      const besides = { total, head: position === undefined ? head : undefined };
      const statements = [page, ...Object.values(besides).filter((each) => each !== undefined)];
      const [rows = [], ...others] = await readInTime(database, statements, page.settings, timeoutMs);
      if (total !== undefined) totalSize = countIn(others[0] ?? []);
      revision = besides.head === undefined ? revisionOfFirst : (orgRevisionIn(others.at(-1)) ?? "");
      for (const row of rows as Row[]) endsAt = Math.min(endsAt, endOf(definition, row));
      return rows as Row[];
    };
    const toCursor = (row: Row): Cursor => [...cursorOf(order, row), ...(head === undefined ? [] : [revision])];
    const page = await listPage(pageTokens, request, binding, read, toCursor);
    return { ...page, totalSize, revision, endsAt };
  };
}

/**
 * Splits what a page token has: the key of the last row, and the revision of the first page; empty in a token without it.
 *
 * @param keys how many columns the key has.
 */
function splitCursor(position: Cursor | undefined, keys: number): readonly [Cursor | undefined, string] {
  return [position?.slice(0, keys), position?.[keys] ?? ""];
}
