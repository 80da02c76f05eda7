import type { Exception } from "./compare-statements.ts";

/** The statements that no run on another PostgreSQL sends. An entry that is no longer needed fails. */
export const exceptions: readonly Exception[] = [
  { start: "src/database/embedded/", reason: "They administer the embedded PostgreSQL 18." },
  {
    start: "src/jobs/purge/expired-rows.ts",
    reason: "A job searches when sessions end, and tests on 18 alone have many that do.",
  },
  {
    start:
      "src/standard-methods/rows/insert-row.ts insertRow: insert resource_counts, insert resource_labels, insert roles",
    reason: "It is sent for other tables.",
  },
  {
    start:
      "src/events/changes/resolve-paths.ts idOfPath: select role_bindings, orgs, customers, services, projects, members, groups, roles",
    reason: "It is sent for other tables.",
  },
  { start: "text select ? as two", reason: "A test of connections, which are the same to each server." },
];
