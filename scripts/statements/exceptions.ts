import type { Exception } from "./compare-statements.ts";

/** Statements that a run on another PostgreSQL need not send. An entry for what no test sends any more fails. */
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
  { start: "src/events/changes/resolve-paths.ts idOfPath: select ", reason: "It is sent for some tables." },
  { start: "text select ? as two", reason: "A test of connections, which are the same to each server." },
];
