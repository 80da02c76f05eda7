import type { DescMessage } from "@bufbuild/protobuf";
import { isRevision } from "../../changes/revision.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ServedResource } from "../rules.ts";

/** The etag of any resource that exists: over REST, `If-Match: *` (RFC 9110, 13.1.1). */
const anyEtag = "*";

/**
 * Checks that a row exists and, if the caller sent an etag, that it is unchanged.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND or ETAG_STALE
 */
export async function requireFound<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition: { label, pathOf }, place }: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  row: Row | undefined,
  path: readonly Reference[],
  etag: string,
): Promise<Row> {
  if (row === undefined) throw notFound(label.one, formatReferences(place.pattern, path));
  if (etag !== "" && etag !== anyEtag && etag !== row.changed_revision)
    throw await stale(transaction, label.one, pathOf(row), etag);
  return row;
}

export function isGone(row: ResourceRow | undefined): boolean {
  return row === undefined || Boolean(row.delete_time);
}

async function stale(transaction: OrgTransaction, label: string, path: string, etag: string): Promise<ServiceError> {
  const message = await explainStale(transaction, `the ${label} ${path}`, etag);
  return new ServiceError("ETAG_STALE", message, { metadata: { resource: path } });
}

async function explainStale({ db, org }: OrgTransaction, resource: string, etag: string): Promise<string> {
  if (!isRevision(etag)) {
    return `this is no etag of ${resource}: send the value of its field etag, or its header ETag, which goes on after that, in If-Match`;
  }
  const logged = await db
    .selectFrom("changes")
    .select("org_id")
    .where(isInOrgOf("changes", org))
    .where("revision", "=", etag)
    .limit(1)
    .execute();
  return logged.length > 0
    ? `${resource} has changed since this etag was read; read it again`
    : `this etag is not in the history of ${resource}: it is of another resource, or was lost when the database was restored or failed over; read it again`;
}
