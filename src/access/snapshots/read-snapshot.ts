// Reads snapshots from the database.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Transaction, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import { type OrgSnapshot, type OrgSnapshotOptions, createOrgSnapshot } from "../engine/org-snapshot.ts";
import type { OrgRow } from "../engine/loading/rows.ts";
import { readChunks } from "./read-chunks.ts";
import { snapshotSources } from "./snapshot-sources.ts";

/** How many rows are loaded before other work on the event loop runs: about a millisecond of work. */
const rowsOfTurn = 1000;

/** How many entities are reserved before other work on the event loop runs. */
const roomOfTurn = 20_000;

/** The number of resources of each type directly below the org, without soft-deleted ones. */
type Counts = Readonly<Record<string, number>>;

type ReadOptions = Omit<OrgSnapshotOptions, "org">;

/**
 * Builds the snapshot of an org from its tables, as of one revision. Other work on the event loop runs in between.
 *
 * @returns undefined if there is no such org, or its head has moved meanwhile: the statements of a transaction that spans the move of a
 *   distributed table may see two states.
 */
export async function readSnapshot(
  database: Database,
  orgId: string,
  options: ReadOptions,
): Promise<OrgSnapshot | undefined> {
  const snapshot = await readSmallSnapshot(database, orgId, options, Infinity);
  return snapshot === "too large" ? undefined : snapshot;
}

/** Does the same, but returns "too large" if there are more than `maxRows` rows. */
export function readSmallSnapshot(
  { reads }: Database,
  orgId: string,
  options: ReadOptions,
  maxRows: number,
): Promise<OrgSnapshot | "too large" | undefined> {
  return reads
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (db) => {
      const { rows } = await sql<OrgRow & { revision: string; counts: Counts | null }>`
        select id, name, customer_id, state, delete_time, labels, revision, (
          select json_object_agg(resource_type, count) from resource_counts
          where customer_id = orgs.customer_id and org_id = orgs.id and parent_id = orgs.id
        ) as counts
        from orgs where id = ${orgId}`.execute(db);
      const [org] = rows;
      if (org === undefined) return undefined;
      const counts = org.counts ?? {};
      if (sumOf(Object.values(counts)) > maxRows) return "too large";
      const snapshot = createOrgSnapshot({ ...options, org });
      await makeRoom(snapshot, counts);
      let total = 0;
      for await (const { source, count, slice } of readChunks(db, orgId, snapshotSources)) {
        total += count;
        if (total > maxRows) return "too large";
        for (let row = 0; row < count; row += rowsOfTurn) {
          source.load(snapshot, slice(row, row + rowsOfTurn));
          await nextTurn();
        }
      }
      return (await readHead(db, orgId)) === org.revision ? snapshot : undefined;
    });
}

async function readHead(db: Transaction<Schema>, orgId: string): Promise<string | undefined> {
  const row = await db.selectFrom("orgs").select("revision").where("id", "=", orgId).executeTakeFirst();
  return row?.revision;
}

async function makeRoom({ members, groups, projects }: OrgSnapshot, counts: Counts): Promise<void> {
  for (const [table, total = 0] of [
    [members, counts["Member"]],
    [groups, counts["Group"]],
    [projects, counts["Project"]],
  ] as const) {
    for (let room = 0; room < total; room += roomOfTurn) {
      table.reserve(Math.min(room + roomOfTurn, total));
      await nextTurn();
    }
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
