import type { OrgTransaction } from "../changes/write-in-org.ts";
import { isLogOfCustomer } from "../database/org-key.ts";
import { toTimestamp } from "./to-timestamp.ts";

/** The writable fields that every named resource has. */
export interface NamedFields {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The columns of those fields, as they are read. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly description: string;
  readonly labels: Record<string, string>;
  readonly changed_revision: string;
  readonly create_time: Date;
  readonly update_time: Date;
}

export interface DeletableRow {
  readonly delete_time: Date | null;
  readonly purge_time: Date | null;
}

/** Returns the columns that an update writes. */
export function namedColumns(fields: NamedFields) {
  return {
    name: fields.name,
    display_name: fields.displayName,
    description: fields.description,
    labels: JSON.stringify(fields.labels),
  };
}

/** Returns the columns of the org of a transaction that the path of a row needs. */
export function joinedOrgColumns({ org }: OrgTransaction) {
  return { org_name: org.name, org_delete_time: org.delete_time };
}

/** Returns those of the org or the customer of a transaction, for rows that can be in either. */
export function joinedParentColumns(transaction: OrgTransaction) {
  const { org } = transaction;
  return isLogOfCustomer(org)
    ? { org_name: null, org_delete_time: null, customer_name: org.name, customer_delete_time: org.delete_time }
    : { ...joinedOrgColumns(transaction), customer_name: null, customer_delete_time: null };
}

/** Returns the message fields that all named resources share. */
export function namedFields(row: NamedRow) {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    labels: row.labels,
    ...versionFields(row),
  };
}

/** Returns the message fields for a row's version and times. */
export function versionFields(row: Pick<NamedRow, "changed_revision" | "create_time" | "update_time">) {
  return {
    etag: row.changed_revision,
    createTime: toTimestamp(row.create_time),
    updateTime: toTimestamp(row.update_time),
  };
}

export function deletionFields(row: DeletableRow) {
  return { deleteTime: toTimestamp(row.delete_time), purgeTime: toTimestamp(row.purge_time) };
}
