// The label index `resource_labels`: each label of each resource whose lists use it, including deleted resources. Writers of
// rows maintain it; the labels of removed rows are deleted by remove-rows.ts.
import { sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import { nowhere } from "../../filters/label-index.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

type Labels = Readonly<Record<string, string>>;

/** The labels of a row before and after a write; before an insert there are none. */
export interface Relabelled {
  readonly id: string;
  /** The id of the direct parent; null for a resource without one. */
  readonly parentId: string | null;
  readonly before: Labels;
  readonly after: Labels;
}

interface Label {
  readonly id: string;
  readonly parentId: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Updates the labels of rows with the next statement.
 *
 * @param place the org of the rows, and for what is in no org, its customer and `nowhere`.
 */
export function keepLabels(db: WriteTransaction, type: ResourceType, place: OrgKey, rows: readonly Relabelled[]): void {
  const removed = rows.flatMap((row) => labelsMissing(row, row.before, row.after));
  const added = rows.flatMap((row) => labelsMissing(row, row.after, row.before));
  const { customer_id: customerId, id: orgId } = place;
  if (removed.length > 0) {
    const isOne = sql`(key, value, parent_id, resource_id) in (select * from ${unnest(removed)})`;
    const isRemoved = sql`customer_id = ${customerId} and org_id = ${orgId} and resource_type = ${type} and ${isOne}`;
    db.sendWithNext(sql`delete from resource_labels where ${isRemoved}`.compile(db));
  }
  if (added.length > 0) {
    const insert = sql`
      insert into resource_labels (customer_id, org_id, resource_type, key, value, parent_id, resource_id)
      select ${customerId}, ${orgId}, ${type}, label.* from ${unnest(added)} as label`;
    db.sendWithNext(insert.compile(db));
  }
}

/** Returns the labels of a row that `other` lacks or has with another value. */
function labelsMissing({ id, parentId }: Relabelled, labels: Labels, other: Labels): Label[] {
  return Object.entries(labels)
    .filter(([key, value]) => !Object.hasOwn(other, key) || other[key] !== value)
    .map(([key, value]) => ({ id, parentId: parentId ?? nowhere, key, value }));
}

function unnest(labels: readonly Label[]) {
  const keys = labels.map(({ key }) => key);
  const values = labels.map(({ value }) => value);
  const parents = labels.map(({ parentId }) => parentId);
  const ids = labels.map(({ id }) => id);
  return sql`unnest(${keys}::text[], ${values}::text[], ${parents}::uuid[], ${ids}::uuid[])`;
}
