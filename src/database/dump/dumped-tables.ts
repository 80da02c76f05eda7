import type { Schema } from "../schema.ts";
import { damaged } from "./manifest.ts";

/**
 * Whether a dump has the rows of a table. A table that a later version drops stays here, because its rows are in the dumps of databases that
 * still have it. Those that say which migrations were applied are not here: a restore applies them.
 */
const dumpedTables: Readonly<Record<keyof Schema | "fills", boolean>> = {
  access_events: true,
  access_requests: true,
  // What was used between a dump and its restore is not known, so recording begins anew.
  access_uses: false,
  allocations: true,
  api_keys: true,
  // A restore ends all sign-ins, so those in progress are of no use.
  authorization_codes: false,
  browser_sessions: false,
  changes: true,
  clients: true,
  // As those of invitations.
  contact_links: false,
  contact_warnings: true,
  contacts: true,
  customers: true,
  // Its triggers write it while the rows that it leads to are loaded.
  directory: false,
  ended_tokens: true,
  event_streams: true,
  fills: true,
  group_members: true,
  groups: true,
  guarding_orgs: true,
  identities: true,
  identity_providers: true,
  installation: true,
  // Their links are void after a restore, as those to sign in are: one may have been taken back since.
  invitations: false,
  // The servers that run at the moment.
  log_listeners: false,
  managed_resources: true,
  members: true,
  operations: true,
  orgs: true,
  past_roles: true,
  // Made again of the log, when somebody asks for a long past.
  past_states: false,
  projects: true,
  quality_kinds: true,
  quantity_kinds: true,
  quota_requests: true,
  quotas: true,
  resource_counts: true,
  resource_labels: true,
  resource_references: true,
  resource_types: true,
  resources: true,
  role_bindings: true,
  roles: true,
  scim_groups: true,
  scim_sources: true,
  scim_users: true,
  services: true,
  sessions: true,
  sign_in_links: false,
  signing_keys: true,
  subgroups: true,
  sweeps: true,
  usage_summaries: true,
  usage_sums: true,
  webhook_deliveries: true,
  webhook_logs: true,
  webhooks: true,
  use_recording: false,
  write_requests: true,
};

/** Tables of the service, besides those above. */
const ofMigrations: ReadonlySet<string> = new Set(["migrations", "kysely_migration", "kysely_migration_lock"]);

export function isDumped(table: string): boolean {
  return new Map(Object.entries(dumpedTables)).get(table) === true;
}

/** The tables whose rows are in a dump of this version. */
export const tablesOfDump: readonly string[] = Object.keys(dumpedTables).filter(isDumped);

/** @throws DumpError DAMAGED if tables are missing that a dump must have. */
export function requireTables(expected: readonly string[], found: readonly string[]): void {
  const lacking = expected.filter((table) => !found.includes(table));
  if (lacking.length > 0) throw damaged(`it lacks the tables ${lacking.join(", ")}`);
}

/** Whether a table is one of the service whose rows a restore may replace. */
export function hasRows(table: string): boolean {
  return Object.hasOwn(dumpedTables, table);
}

/** Whether a table is one of the service. */
export function isOwnTable(table: string): boolean {
  return hasRows(table) || ofMigrations.has(table);
}
