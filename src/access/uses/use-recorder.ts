// Records which role bindings, memberships and permissions of custom roles permitted calls need, and which clients get tokens: for each the
// last day. A call only notes it in memory; it is written at intervals, an org at a time.
import type { Database } from "../../database/database.ts";
import { repeat } from "../../timers/repeat.ts";
import type { Runs } from "../../timers/runs.ts";
import { visitUses } from "../engine/decisions/visit-uses.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { subjectNumber } from "../engine/tables/subject.ts";
import { visitNeeded } from "../evaluation/allows.ts";
import type { CheckRequest } from "../evaluation/check-request.ts";
import type { RecordUse } from "../evaluation/evaluator.ts";
import type { DecisionTarget } from "../evaluation/resolved-target.ts";
import { type PendingUses, createPendingUses } from "./pending-uses.ts";
import { createSeenDecisions } from "./seen-decisions.ts";
import { noteRecording, writeUses } from "./store.ts";

export interface UseRecorder {
  readonly record: RecordUse;
  /** Records that a client has got a token, by the database's clock in milliseconds. */
  readonly recordClient: (client: { readonly orgId: string; readonly id: string }, now: number) => void;
  readonly runs: Readonly<Runs>;
  /** Writes what is pending. */
  readonly flush: () => Promise<void>;
  /** Writes what is pending, and stops. */
  readonly close: () => Promise<void>;
}

interface UseRecorderOptions {
  readonly database: Pick<Database, "writes">;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
}

const dayMs = 86_400_000;

/** How often a server notes that it records. */
const noteMs = 600_000;

/** How many uses a statement writes. */
const perStatement = 5_000;

export function createUseRecorder({ database, intervalMs, onError }: UseRecorderOptions): UseRecorder {
  const pending = createPendingUses();
  const recordNeeded = createRecordNeeded(pending);
  const writeAll = createWriteAll(database, pending);
  const repetition = repeat(writeAll, { intervalMs, onError });
  repetition.runOnce().catch(onError);
  return {
    runs: repetition.runs,
    flush: () => repetition.runOnce(),

    record(snapshot, check, permission, target) {
      // Nearly all decisions need one permission.
      if (target.suspensions.length === 0 && check.narrowing?.impersonatorId === undefined) {
        recordNeeded(snapshot, check, permission, target);
      } else {
        visitNeeded(check, permission, target, (...needed) => recordNeeded(snapshot, ...needed));
      }
    },

    recordClient({ orgId, id }, now) {
      pending.add(orgId, { id, part: "", day: Math.floor(now / dayMs) });
    },

    async close() {
      await repetition.close();
      await writeAll().catch(onError);
    },
  };
}

/** Creates the function that records what gives one permission, unless it has recorded that already. */
function createRecordNeeded({ add }: Pick<PendingUses, "add">) {
  const seen = createSeenDecisions();
  return (snapshot: OrgSnapshot, check: CheckRequest, permission: string, { resource }: DecisionTarget): void => {
    const { subject, now, counted } = check;
    const table = subject.kind === "member" ? snapshot.members : snapshot.groups;
    const number = subjectNumber(subject.kind, "record" in subject ? subject.record : table.findById(subject.id));
    const decision = { numbering: snapshot.numbering(), subject: number, permission, resource };
    // What counts for a limited API key is its own.
    if (counted === "all" && seen.has(decision, now)) return;
    const day = Math.floor(now / dayMs);
    let isTaken = true;
    const until = visitUses(snapshot, { subject, permission, resource, now, counted }, (id, part) => {
      isTaken = add(snapshot.org.id, { id, part, day }) && isTaken;
    });
    if (counted === "all" && isTaken) seen.add(decision, Math.min(until, (day + 1) * dayMs));
  };
}

/** Creates the function that writes what is pending. */
function createWriteAll({ writes }: Pick<Database, "writes">, pending: PendingUses): () => Promise<void> {
  let notedAt = -Infinity;
  return async () => {
    if (performance.now() - notedAt > noteMs) {
      await noteRecording(writes);
      notedAt = performance.now();
    }
    const left = new Map(pending.take());
    try {
      for (const [orgId, uses] of left) {
        for (let start = 0; start < uses.length; start += perStatement) {
          await writeUses(writes, orgId, uses.slice(start, start + perStatement));
        }
        left.delete(orgId);
      }
    } finally {
      for (const [orgId, uses] of left) pending.giveBack(orgId, uses);
    }
  };
}
