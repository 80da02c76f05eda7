// Delivers what a webhook has to deliver, in the order of the log: each request until the receiver has accepted it, or has failed for three
// days. A server that ends, or loses the database, leaves a lease that ends and a cursor that has not moved, so another one sends the same
// request again.
import type { Kysely } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { ChangeRow } from "../changes/store.ts";
import { type AttemptDependencies, type Group, createAttempt } from "./attempt.ts";
import { compareAllLogs, endNoted, findNextLog, waitForLog } from "./customer-logs.ts";
import { endOfLog, postponeInactive } from "./due.ts";
import { compareLogs, isSame } from "./lease.ts";
import { positionOf } from "./read-ahead.ts";
import { type Claimed, claim, endTry, isOfCustomer, trimDeliveries } from "./store.ts";
import { type Progress, type Stop, type TakeTurn, type Turn, batch, createTakeTurn, isStop } from "./turn.ts";

/** How many entries are read ahead that are sent alone. */
const readAhead = 100;

export function createDeliver(dependencies: AttemptDependencies): TakeTurn {
  const { writes } = dependencies.database;
  const deliverNext = createDeliverNext(dependencies);
  const ofCustomer = createRunOfCustomer(writes, deliverNext);
  const ofOrg = createRunOfOrg(deliverNext);
  return createTakeTurn(writes, {
    table: "webhooks",
    claim,
    otherwise: postponeInactive,
    async run(webhook, held) {
      const turn = { ...held, webhook };
      const stop = await (isOfCustomer(webhook) ? ofCustomer(turn) : ofOrg(turn));
      await trimDeliveries(writes, turn.lease.place, turn.clock());
      return stop;
    },
  });
}

/** Delivers until all is delivered, a request fails or the turn is over. */
type Run = (turn: Turn) => Promise<Stop>;

function createRunOfOrg(deliverNext: DeliverNext): Run {
  return async (turn) => {
    let progress = progressOf(turn.webhook);
    while (turn.clock().getTime() < turn.endMs) {
      const step = await deliverNext(turn, progress);
      if (step === "all delivered") return {};
      if (isWaiting(step)) return { nextAttemptTime: step.due };
      if (isStop(step)) return step;
      progress = step;
    }
    return { nextAttemptTime: turn.clock() };
  };
}

/** The logs take turns, each with the next of its entries. */
function createRunOfCustomer(writes: Kysely<Schema>, deliverNext: DeliverNext): Run {
  return async (turn) => {
    const { webhook, lease, clock, endMs, signal } = turn;
    if (webhook.cursor_position === compareLogs) await compareAllLogs(writes, lease, webhook);
    while (clock().getTime() < endMs) {
      signal.throwIfAborted();
      const found = await findNextLog(writes, lease);
      if (found === undefined) return {};
      const { noted, log: next } = found;
      if (next === undefined) {
        await endNoted(writes, lease, noted);
        return {};
      }
      if (next.next_attempt_time > clock()) {
        await waitForLog(writes, lease, noted, next.next_attempt_time);
        return {};
      }
      const { log_id: id, ...state } = next;
      const ofLog = { ...webhook, ...state, log: { customer_id: webhook.customer_id, id } };
      const step = await deliverNext({ ...turn, webhook: ofLog }, progressOf(ofLog));
      if (step === "all delivered") continue;
      if (isWaiting(step)) {
        const { failing_since: failingSince } = ofLog;
        if (!(await endTry(writes, lease, ofLog, { failingSince, nextAttemptTime: step.due }))) return {};
        continue;
      }
      if (isStop(step)) return step;
      // The receiver is tried again when its wait is over.
      if (step.hasFailed) return {};
    }
    return { nextAttemptTime: clock() };
  };
}

function progressOf(webhook: Claimed): Progress {
  const {
    cursor_time: time,
    cursor_revision: revision,
    cursor_position: position,
    failing_since: failingSince,
  } = webhook;
  return { after: { time, revision, position }, failingSince, hasFailed: false };
}

/** A batch that is not full is not sent before it is due. */
interface Waiting {
  readonly due: Date;
}

type Step = Progress | Stop | Waiting | "all delivered";

const isWaiting = (step: Exclude<Step, string>): step is Waiting => "due" in step;

/** Delivers the next entries of a log. */
type DeliverNext = (turn: Turn, from: Progress) => Promise<Step>;

function createDeliverNext(dependencies: AttemptDependencies): DeliverNext {
  const { database, log } = dependencies;
  const attempt = createAttempt(dependencies);

  const deliverPage = async (turn: Turn, groups: readonly Group[], from: Progress): Promise<Progress | Stop> => {
    let progress = from;
    for (const group of groups) {
      turn.signal.throwIfAborted();
      const step = await attempt(turn, group, progress);
      if (isStop(step)) return step;
      progress = step;
    }
    return progress;
  };

  /** Leaves out what the filter does not match, unless that is another one now. */
  const moveCursor = ({ webhook, lease, clock }: Turn, { after: cursor, failingSince }: Progress): Promise<boolean> => {
    // Other logs come first then.
    const next = isOfCustomer(webhook) && { nextAttemptTime: clock() };
    const changedRevision = webhook.changed_revision;
    return endTry(database.writes, lease, webhook, { cursor, failingSince, changedRevision, ...next });
  };

  return async (turn, from) => {
    const { webhook, clock } = turn;
    const isBatch = webhook.format === "NDJSON_BATCH";
    const limit = isBatch ? batch.count : readAhead;
    const ahead = await log.next(webhook, from.after, limit);
    if (ahead === undefined) {
      const isKept = await moveCursor(turn, { ...from, after: endOfLog(from.after, webhook.noted_time) });
      return isKept ? "all delivered" : {};
    }
    const { rows, end, isPending } = ahead;
    const last = rows.at(-1);
    const due = isBatch && !isPending && rows.length < limit ? dueTimeOf(rows) : undefined;
    if (due !== undefined && due > clock()) return { due };
    const step = await deliverPage(turn, isBatch ? together(rows) : rows.map((row): Group => [row]), from);
    if (isStop(step)) return step;
    // A batch was full before the last one, or there may be more.
    const isAllSent = last === undefined || isSame(step.after, positionOf(last));
    if (!isAllSent || rows.length === limit || isSame(step.after, end)) return step;
    const moved = { ...step, after: end };
    return (await moveCursor(turn, moved)) ? moved : {};
  };
}

function together([first, ...others]: readonly ChangeRow[]): readonly Group[] {
  return first === undefined ? [] : [[first, ...others]];
}

/** Returns when a batch that is not full is sent; undefined if there is nothing to send. */
function dueTimeOf([first]: readonly ChangeRow[]): Date | undefined {
  return first && new Date(first.time.getTime() + batch.waitMs);
}
