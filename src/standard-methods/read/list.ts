import type { DescMessage } from "@bufbuild/protobuf";
import type { RawBuilder, SqlBool, Transaction } from "kysely";
import type { VisibleOrgs } from "../../access/evaluation/authorise.ts";
import type { Schema } from "../../database/schema.ts";
import { cursorOf, withUniqueKey } from "../../filters/keyset.ts";
import { parseOrderBy } from "../../filters/parse-order-by.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { restrictedBy, toSql } from "../../filters/to-sql.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import { type Page, type PageRequest, listPage } from "./list-page.ts";
import { uniqueKeyOf } from "./row-reader.ts";
import { countResources } from "../rows/counts.ts";
import type { ServedResource } from "../rules.ts";
import { inListTransaction } from "./in-list-transaction.ts";
import { listFieldsOf } from "./list-fields.ts";

/** The fields of a List request, without the parent. */
export interface ListRequest extends PageRequest {
  readonly showDeleted?: boolean;
  readonly filter: string;
  readonly orderBy: string;
}

/** A page, with the total number of resources if it is known. */
interface CountedPage<Row> extends Page<Row> {
  readonly totalSize: number | undefined;
}

/** What a list may show; each part is undefined if it does not limit the list. */
interface Visible {
  readonly orgs: VisibleOrgs | undefined;
  readonly rows: RawBuilder<SqlBool> | undefined;
}

/** @param timeoutMs returns the time until the deadline of the call. */
export type ListMethod<Row> = (
  parent: readonly Reference[],
  request: ListRequest,
  visible: Visible,
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

  /** @param parent a path to a single parent, with ids only. */
  const totalSize = async (db: Transaction<Schema>, parent: readonly Reference[]): Promise<number | undefined> => {
    // What is in no org is stored in a fixed one.
    const orgId = rules.scope.kind === "fixed" ? rules.scope.org : parent[0];
    const parentId = parent.at(-1);
    if (orgId?.by !== "id" || parentId?.by !== "id") return undefined;
    return countResources(db, { type, orgId: orgId.value, parentId: parentId.value });
  };

  return async (path, request, visible, timeoutMs) => {
    const { showDeleted = false, filter, orderBy } = request;
    const filtered = toSql(readFilter(filter, fields));
    const condition = visible.rows === undefined ? filtered : restrictedBy(filtered, visible.rows);
    const order = withUniqueKey(parseOrderBy(orderBy, fields), uniqueKey);
    const parent = await reader.resolveParent(path);
    const binding = [type, formatReferences(place.pattern, parent), String(showDeleted), filter, orderBy];
    const isWhole = counts && !showDeleted && filter === "" && visible.rows === undefined;
    return inListTransaction(database, timeoutMs, async (db) => {
      const page = await listPage(
        pageTokens,
        request,
        binding,
        (after, limit) =>
          reader.readPage(db, { parent, showDeleted, visible: visible.orgs, condition, order, after, limit }),
        (row) => cursorOf(order, row),
      );
      return { ...page, totalSize: isWhole ? await totalSize(db, parent) : undefined };
    });
  };
}
