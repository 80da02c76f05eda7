import type { DescMessage } from "@bufbuild/protobuf";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/resource-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ServedResource } from "../rules.ts";

/**
 * Checks that a row exists and, if the caller sent an etag, that it is unchanged.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND or ETAG_STALE
 */
export function requireFound<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition: { label, pathOf }, place }: ServedResource<Table, Row, Desc>,
  row: Row | undefined,
  path: readonly Reference[],
  etag: string,
): Row {
  if (row === undefined) throw notFound(label.one, formatReferences(place.pattern, path));
  if (etag !== "" && etag !== row.changed_revision) throw stale(label.one, pathOf(row));
  return row;
}

export function isGone(row: ResourceRow | undefined): boolean {
  return row === undefined || Boolean(row.delete_time);
}

function stale(label: string, path: string): ServiceError {
  return new ServiceError("ETAG_STALE", `the ${label} ${path} has changed since this etag was read; read it again`, {
    metadata: { resource: path },
  });
}
