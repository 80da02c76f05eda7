import type { DescMessage } from "@bufbuild/protobuf";
import type { RawBuilder, SqlBool } from "kysely";
import type { VisibleOrgs } from "../../access/evaluation/authorise.ts";
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

export type ListMethod<Row> = (
  parent: readonly Reference[],
  request: ListRequest,
  visible: Visible,
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
  const totalSize = async (parent: readonly Reference[]): Promise<number | undefined> => {
    // What is in no org is stored in a fixed one.
    const orgId = rules.scope.kind === "fixed" ? rules.scope.org : parent[0];
    const parentId = parent.at(-1);
    if (orgId?.by !== "id" || parentId?.by !== "id") return undefined;
    return countResources(database.reads, { type, orgId: orgId.value, parentId: parentId.value });
  };

  return async (path, request, visible) => {
    const { showDeleted = false, filter, orderBy } = request;
    const filtered = toSql(readFilter(filter, fields));
    const condition = visible.rows === undefined ? filtered : restrictedBy(filtered, visible.rows);
    const order = withUniqueKey(parseOrderBy(orderBy, fields), uniqueKey);
    const parent = await reader.resolveParent(path);
    const binding = [type, formatReferences(place.pattern, parent), String(showDeleted), filter, orderBy];
    const page = listPage(
      pageTokens,
      request,
      binding,
      (after, limit) =>
        reader.readPage(database.reads, { parent, showDeleted, visible: visible.orgs, condition, order, after, limit }),
      (row) => cursorOf(order, row),
    );
    const isWhole = counts && !showDeleted && filter === "" && visible.rows === undefined;
    const [found, total] = await Promise.all([page, isWhole ? totalSize(parent) : undefined]);
    return { ...found, totalSize: total };
  };
}
