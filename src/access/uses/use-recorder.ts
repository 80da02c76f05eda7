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
import { decidedOn } from "../evaluation/support-access.ts";
import { type PendingUses, type UsesBounds, createPendingUses } from "./pending-uses.ts";
import { createSeenDecisions } from "./seen-decisions.ts";
import { type DayUse, noteRecording, writeKnownUses, writeUses } from "./store.ts";

export interface UseRecorder {
  readonly record: RecordUse;
  /** Records that a client has got a token, by the database's clock in milliseconds. */
  readonly recordClient: (client: { readonly orgId: string; readonly id: string }, now: number) => void;
  readonly runs: Readonly<Runs>;
  /** How many uses found no room since the start. */
  readonly lost: () => number;
  /** Writes what is pending. */
  readonly flush: () => Promise<void>;
  /** Writes what is pending, and stops. */
  readonly close: () => Promise<void>;
}

interface UseRecorderOptions {
  readonly database: Pick<Database, "writes">;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
  readonly bounds?: UsesBounds;
  /** How many rows an org may get on a day. Beyond, only those are written again that it has. */
  readonly newOfOrg?: number;
}

const dayMs = 86_400_000;

/** How often a server notes that it records. */
const noteMs = 600_000;

/** How many uses a statement writes. */
const perStatement = 5_000;

const usualNewOfOrg = 50_000;

export function createUseRecorder(options: UseRecorderOptions): UseRecorder {
  const { database, intervalMs, onError, bounds, newOfOrg = usualNewOfOrg } = options;
  let isEarly = false;
  const pending = createPendingUses(bounds, () => {
    if (isEarly) return;
    isEarly = true;
    repetition.runOnce().catch(onError);
  });
  const recordNeeded = createRecordNeeded(pending);
  const writeAll = createWriteAll(database, pending, newOfOrg);
  const run = (): Promise<void> => {
    isEarly = false;
    return writeAll();
  };
  const repetition = repeat(run, { intervalMs, onError });
  repetition.runOnce().catch(onError);
  return {
    runs: repetition.runs,
    lost: pending.lost,
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
      // That may have found that uses are lost.
      await writeAll().catch(onError);
    },
  };
}

/** Creates the function that records what gives one permission, unless it has recorded that already. */
function createRecordNeeded({ add, lose }: Pick<PendingUses, "add" | "lose">) {
  const seen = createSeenDecisions();
  return (snapshot: OrgSnapshot, check: CheckRequest, permission: string, target: DecisionTarget): void => {
    const { subject, now, counted } = check;
    const resource = decidedOn(snapshot, check, permission, target);
    const table = subject.kind === "member" ? snapshot.members : snapshot.groups;
    const number = subjectNumber(subject.kind, "record" in subject ? subject.record : table.findById(subject.id));
    const decision = { numbering: snapshot.numbering(), subject: number, permission, resource };
    // What counts for a limited API key is its own. It is read for each call, which costs more than to look at so few bindings.
    if (counted === "all" && seen.has(decision, now)) return;
    const day = Math.floor(now / dayMs);
    let isTaken = true;
    const { until, isCutOff } = visitUses(snapshot, { subject, permission, resource, now, counted }, (id, part) => {
      isTaken = add(snapshot.org.id, { id, part, day }) && isTaken;
    });
    if (isCutOff) lose(snapshot.org.id, day, 1);
    if (counted === "all" && isTaken) seen.add(decision, Math.min(until, (day + 1) * dayMs));
  };
}

/** Creates the function that writes what is pending. An org of which that fails keeps no other one waiting. */
function createWriteAll(
  { writes }: Pick<Database, "writes">,
  pending: PendingUses,
  newOfOrg: number,
): () => Promise<void> {
  let notedAt = -Infinity;
  let added = { day: 0, byOrg: new Map<string, number>() };

  const writeSome = async (orgId: string, uses: readonly DayUse[]): Promise<void> => {
    const day = Math.max(...uses.map((use) => use.day));
    if (day > added.day) added = { day, byOrg: new Map() };
    const before = added.byOrg.get(orgId) ?? 0;
    if (before < newOfOrg) {
      added.byOrg.set(orgId, before + (await writeUses(writes, orgId, uses)));
      return;
    }
    const known = await writeKnownUses(writes, orgId, uses);
    if (known < uses.length) pending.lose(orgId, day, uses.length - known);
  };

  const writeOfOrg = async (orgId: string, uses: readonly DayUse[]): Promise<void> => {
    let start = 0;
    try {
      for (; start < uses.length; start += perStatement) {
        await writeSome(orgId, uses.slice(start, start + perStatement));
      }
    } finally {
      if (start < uses.length) pending.giveBack(orgId, uses.slice(start));
    }
  };

  return async () => {
    const errors: unknown[] = [];
    const attempt = (write: Promise<void>): Promise<void> => write.catch((error: unknown) => void errors.push(error));
    if (performance.now() - notedAt > noteMs) {
      await attempt(noteRecording(writes).then(() => void (notedAt = performance.now())));
    }
    for (const [orgId, uses] of pending.take()) await attempt(writeOfOrg(orgId, uses));
    if (errors.length > 1) throw new AggregateError(errors, "the uses of several orgs were not written");
    if (errors.length === 1) throw errors[0];
  };
}
