// Reads the snapshot of an org as it was at a revision.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Moment } from "../../changes/past/find-moment.ts";
import { readPastOrg, requireHead } from "../../changes/past/read-past-org.ts";
import { readPastRows } from "../../changes/past/read-past-rows.ts";
import type { Database } from "../../database/database.ts";
import type { OrgRow } from "../engine/loading/rows.ts";
import { type OrgSnapshot, type OrgSnapshotOptions, createOrgSnapshot } from "../engine/org-snapshot.ts";
import { type GoneEntities, createGoneEntities } from "./gone-entities.ts";
import type { LongReads } from "./long-reads.ts";
import { readPastBase } from "./past-base.ts";
import { readGone } from "./past-removals.ts";
import { pastTables } from "./past-tables.ts";

export interface PastSnapshot {
  readonly snapshot: OrgSnapshot;
  /** Those that were there and are not in the snapshot: they are purged, and the log has not all that referred to them. */
  readonly gone: GoneEntities;
}

type ReadOptions = Omit<OrgSnapshotOptions, "org"> & {
  /** Ends it. What waits for nobody would have a connection and a turn for as long as it takes. */
  readonly signal: () => AbortSignal;
  readonly longReads: Pick<LongReads, "note">;
};

const orgColumns = ["id", "name", "customer_id", "state", "delete_time", "labels"];

/**
 * Builds the snapshot. Holds no lock of the org. Other work on the event loop runs in between.
 *
 * @throws ServiceError REVISION_EXPIRED when the log does not have all of it, RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE.
 */
export function readPastSnapshot(
  { reads }: Pick<Database, "reads">,
  orgId: string,
  moment: Moment,
  { signal, longReads, ...options }: ReadOptions,
): Promise<PastSnapshot> {
  return reads
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (db) => {
      const org = await readPastOrg<OrgRow>(db, orgId, moment, orgColumns);
      const base = await readPastBase(db, org, moment);
      longReads.note(org, base.distance);
      const gone = createGoneEntities();
      if (base.isCut) for await (const rows of readGone(db, org, moment)) gone.add(rows);
      const snapshot = createOrgSnapshot({ ...options, org: { ...org.row, revision: moment.revision } });
      for (const { load, ...table } of pastTables) {
        signal().throwIfAborted();
        for await (const rows of readPastRows(db, org, moment, table, base)) {
          load(snapshot, gone.isEmpty() ? rows : rows.filter((row) => !gone.hasId((row as { id?: string }).id ?? "")));
          await nextTurn();
          signal().throwIfAborted();
        }
      }
      await requireHead(db, org);
      return { snapshot, gone };
    });
}
