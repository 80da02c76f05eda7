// The rows that are removed with an org: in batches, not by cascades, which the schema does not have.
import type { Schema } from "../../database/schema.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";

export type OrgTable = keyof Schema;

/**
 * Tables with rows of orgs that are no resources: the write requests of members, what has ended tokens, links to sign in, of invitations and of contacts, warnings, codes of clients,
 * quotas and what counts against them, sweeps, references, deliveries of webhooks, how far those of customers have delivered, what files
 * manage, what SCIM sources manage, what is derived from resources, sums of usage, states of then, sign-ins and refused calls, what was of
 * use for access, and the change log.
 */
const beforeResources = [
  "write_requests",
  "ended_tokens",
  "sign_in_links",
  "invitations",
  "contact_links",
  "contact_warnings",
  "authorization_codes",
  "allocations",
  "quotas",
  "sweeps",
  "resource_references",
  // Before the deliveries, which are recorded for those that have a row.
  "webhook_logs",
  "webhook_deliveries",
  "managed_resources",
  "scim_users",
  "scim_groups",
] as const satisfies readonly OrgTable[];
const afterResources = [
  "resource_labels",
  "resource_counts",
  "usage_sums",
  "usage_summaries",
  "past_states",
  "access_events",
  "access_uses",
  "changes",
] as const satisfies readonly OrgTable[];

/** Returns every table with rows of an org, each before the tables to which it refers. */
export function orgTablesOf({ inOrgs }: ResourceRegistry): readonly OrgTable[] {
  // Several resources may share a table.
  const resources = new Set<OrgTable>(inOrgs.map(({ storage }) => storage.table));
  return [...beforeResources, ...resources, ...afterResources];
}

/** A table with rows that belong to a resource, and the column that refers to it. */
export interface OwnedRows {
  readonly table: "write_requests" | "access_uses";
  readonly column: string;
}

/**
 * The rows that are removed with a member and are no resources. Those of its invitations stay until they expire: the mails that an org may
 * send are counted by them, and their links lead to no member.
 */
export const rowsOfMembers: readonly OwnedRows[] = [
  { table: "write_requests", column: "actor_id" },
  { table: "access_uses", column: "used_id" },
];
