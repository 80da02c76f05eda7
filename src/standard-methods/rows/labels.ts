// The label index `resource_labels`: each label of each resource whose lists use it, including deleted resources. Writers of
// rows maintain it; the labels of removed rows are deleted by remove-rows.ts.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

/** Where the labels of rows are: in their org, or for customers and orgs, in their customer. */
export type LabelPlace = OrgKey | { readonly customer_id: string; readonly id?: undefined };

/**
 * What the labels of customers and orgs have in the columns of an org and a parent, which they do not have, and those of role bindings on the
 * platform in the column of a parent: these columns are in the primary key, so they are not null.
 */
const nowhere = "00000000-0000-0000-0000-000000000000";

type Labels = Readonly<Record<string, string>>;

/** The labels of a row before and after a write; before an insert there are none. */
export interface Relabelled {
  readonly id: string;
  /** The id of the direct parent; null for a resource without one. */
  readonly parentId: string | null;
  readonly before: Labels;
  readonly after: Labels;
}

/** A label of a resource. */
export interface Label {
  readonly id: string;
  readonly parentId: string | null;
  readonly key: string;
  readonly value: string;
}

/** Updates the labels of rows with the next statement. */
export function keepLabels(
  db: WriteTransaction,
  type: ResourceType,
  place: LabelPlace,
  rows: readonly Relabelled[],
): void {
  const removed = rows.flatMap((row) => labelsMissing(row, row.before, row.after));
  const added = rows.flatMap((row) => labelsMissing(row, row.after, row.before));
  if (removed.length > 0) removeLabels(db, type, place, removed);
  if (added.length > 0) {
    const { customer_id: customerId, id: orgId = nowhere } = place;
    const insert = sql`
      insert into resource_labels (customer_id, org_id, resource_type, key, value, parent_id, resource_id)
      select ${customerId}, ${orgId}, ${type}, key, value, coalesce(parent_id, ${nowhere}::uuid), id from ${unnest(added)}`;
    db.sendWithNext(insert.compile(db));
  }
}

/**
 * Deletes labels with the next statement. The number of labels is in the arrays, so that the planner looks up few of them one by one. Those of
 * customers and orgs are found without an org and a parent.
 */
export function removeLabels(
  db: WriteTransaction,
  type: ResourceType,
  { customer_id: customerId, id: orgId }: LabelPlace,
  labels: readonly Label[],
): void {
  const isInPlace =
    orgId === undefined
      ? sql<SqlBool>`kept.resource_type = ${sql.lit(type)}`
      : sql<SqlBool>`kept.org_id = ${orgId} and kept.resource_type = ${type} and kept.parent_id = coalesce(label.parent_id, ${nowhere}::uuid)`;
  const deletion = sql`
    delete from resource_labels as kept using ${unnest(labels)}
    where kept.customer_id = ${customerId} and ${isInPlace}
      and kept.key = label.key and kept.value = label.value and kept.resource_id = label.id`;
  db.sendWithNext(deletion.compile(db));
}

/** Returns the labels of a row that `other` lacks or has with another value. */
function labelsMissing({ id, parentId }: Relabelled, labels: Labels, other: Labels): Label[] {
  return Object.entries(labels)
    .filter(([key, value]) => !Object.hasOwn(other, key) || other[key] !== value)
    .map(([key, value]) => ({ id, parentId, key, value }));
}

/** Returns labels as a table with the name `label`, for FROM. */
function unnest(labels: readonly Label[]): RawBuilder<unknown> {
  const keys = labels.map(({ key }) => key);
  const values = labels.map(({ value }) => value);
  const parents = labels.map(({ parentId }) => parentId);
  const ids = labels.map(({ id }) => id);
  const arrays = sql`${keys}::text[], ${values}::text[], ${parents}::uuid[], ${ids}::uuid[]`;
  return sql`unnest(${arrays}) as label (key, value, parent_id, id)`;
}
