// One request of a webhook: it is sent as the member for which the webhook delivers may see it now, and what came of it is recorded.
import type { Database } from "../../database/database.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { observe } from "../../measures/histogram.ts";
import type { ChangeRow } from "../changes/store.ts";
import { liveKeys } from "../webhooks/secret.ts";
import type { DeliveryCounts } from "./counts.ts";
import type { DisableWebhook } from "./disable.ts";
import { type LogOfWebhook, positionOf } from "./read-ahead.ts";
import type { RecentHead } from "./recent-heads.ts";
import { type Written, contentOf, headersOf, messageId, write } from "./request.ts";
import { type Result, post, sendLimits } from "./send.ts";
import { type Ended, type RecordedDelivery, beginTry, endTry } from "./store.ts";
import { type Progress, type Stop, type Turn, batch, leaseMs, nextTryAfter, patienceMs } from "./turn.ts";

export interface AttemptDependencies {
  readonly database: Pick<Database, "writes">;
  readonly log: LogOfWebhook;
  readonly recentHead: RecentHead;
  readonly send: SendGuarded;
  readonly sealer: Pick<Sealer, "open">;
  readonly disable: DisableWebhook;
  readonly counts: DeliveryCounts;
}

/** The entries of a request, in their order. */
export type Group = readonly [ChangeRow, ...ChangeRow[]];

/** Sends the entries of a request, or the first of them that fit into a batch. */
export type Attempt = (turn: Turn, group: Group, progress: Progress) => Promise<Progress | Stop>;

type Recorded = Omit<RecordedDelivery, "state" | "next_attempt_time">;

export function createAttempt({
  database,
  log,
  recentHead,
  send,
  sealer,
  disable,
  counts,
}: AttemptDependencies): Attempt {
  const { writes } = database;

  return async (turn, group, progress) => {
    const { webhook, lease, clock, signal } = turn;
    if (progress.hasFailed) return follow({ database, counts }, turn, group, progress);
    // First, so that nothing is waited for between the decision what is shown and the request.
    const head = await recentHead(webhook.log);
    const shown = await show(log, turn, group);
    if (shown === undefined) {
      await disable(webhook, lease, "ACCESS_LOST");
      return {};
    }
    const { changes, last } = shown;
    const leaseEnd = new Date(clock().getTime() + leaseMs);
    const attempts = await beginTry(writes, lease, webhook, positionOf(last), leaseEnd);
    if (attempts === undefined) return { nextAttemptTime: clock() };
    const time = clock();
    const content = contentOf(webhook.format, webhook.log, changes);
    const headers = headersOf(content, liveKeys(sealer, webhook, time), time, head);
    // A server that stood still since would send what another one may have sent meanwhile.
    if (clock().getTime() > leaseEnd.getTime() - sendLimits.timeoutMs) return {};
    const result = await post(send, webhook.url, headers, content.body, signal);
    observe(counts.durations, result.durationMs / 1_000);
    const delivery = { ...recordOf(group[0], content.id, changes.length, result), attempts, attempt_time: time };
    return record({ database, counts, disable }, turn, result, delivery, last, progress);
  };
}

/** Records what came of a try, and disables a webhook whose receiver is gone. */
async function record(
  { database: { writes }, counts, disable }: Pick<AttemptDependencies, "database" | "counts" | "disable">,
  { webhook, lease, clock }: Turn,
  { outcome }: Result,
  delivery: Recorded,
  last: ChangeRow,
  progress: Progress,
): Promise<Progress | Stop> {
  const after = positionOf(last);
  const end = (ended: Ended): Promise<boolean> => endTry(writes, lease, webhook, ended);
  if (outcome === "accepted") {
    counts.outcomes.delivered++;
    const recorded = { ...delivery, state: "DELIVERED", next_attempt_time: null } as const;
    const ended = { cursor: after, failingSince: null, nextAttemptTime: clock(), delivery: recorded };
    return (await end({ ...ended, receiver: "accepts" })) ? { ...progress, after, failingSince: null } : {};
  }
  // A webhook that has changed since begins anew.
  const changedRevision = webhook.changed_revision;
  const failingSince = progress.failingSince ?? delivery.attempt_time;
  const now = clock();
  const nextAttemptTime = nextTryAfter(failingSince, now);
  const receiver = { failedAt: delivery.attempt_time, now };
  if (outcome === "failed" && !webhook.hold_retention && isOver(failingSince, now)) {
    counts.outcomes.dead++;
    const recorded = { ...delivery, state: "DEAD", next_attempt_time: null } as const;
    // What follows has its own three days.
    const ended = {
      cursor: after,
      failingSince: null,
      nextAttemptTime,
      delivery: recorded,
      changedRevision,
      receiver,
    };
    return (await end(ended)) ? { after, failingSince: null, hasFailed: true } : {};
  }
  counts.outcomes.failed++;
  const recorded = { ...delivery, state: "FAILED", next_attempt_time: nextAttemptTime } as const;
  const isHeld = await end({ failingSince, nextAttemptTime, delivery: recorded, changedRevision, receiver });
  if (isHeld && outcome === "gone") await disable(webhook, lease, "GONE");
  return {};
}

/** What follows a failure in the same turn is given up if it is as old as that; otherwise it waits. */
async function follow(
  { database, counts }: Pick<AttemptDependencies, "database" | "counts">,
  { webhook, lease, clock }: Turn,
  group: Group,
  progress: Progress,
): Promise<Progress | Stop> {
  const kept = group.findIndex(({ time }) => !isOver(time, clock()));
  const [first, ...others] = kept === -1 ? group : group.slice(0, kept);
  if (first === undefined) return {};
  counts.outcomes.dead++;
  const after = positionOf(others.at(-1) ?? first);
  const delivery = {
    ...recordOf(first, messageId([first, ...others]), others.length + 1, notSent),
    attempts: 0,
    attempt_time: clock(),
    state: "DEAD",
    next_attempt_time: null,
  } as const;
  const ended = { cursor: after, failingSince: null, delivery, changedRevision: webhook.changed_revision };
  const isHeld = await endTry(database.writes, lease, webhook, ended);
  return isHeld ? { ...progress, after } : {};
}

const isOver = (since: Date, now: Date): boolean => now.getTime() - since.getTime() >= patienceMs;

const notSent: Result = {
  outcome: "failed",
  status: 0,
  answer: "",
  error: "not sent: the receiver had failed for three days",
  durationMs: 0,
};

function recordOf({ revision, position }: ChangeRow, id: string, count: number, result: Result) {
  const { status, answer, error, durationMs } = result;
  return {
    revision,
    position,
    message_id: id,
    change_count: count,
    status_code: status,
    answer,
    error,
    duration_ms: durationMs,
  };
}

/** Returns the Changes of a request, as many as fit, and the last one's entry; undefined if the member has lost its access. */
async function show(
  log: LogOfWebhook,
  { webhook }: Turn,
  [first, ...others]: Group,
): Promise<{ readonly changes: readonly [Written, ...Written[]]; readonly last: ChangeRow } | undefined> {
  const reader = await log.readerFor(webhook);
  if (reader === undefined) return undefined;
  const changes: [Written, ...Written[]] = [write(await reader(first))];
  let last = first;
  let bytes = changes[0].line.length;
  for (const row of others) {
    const change = write(await reader(row));
    bytes += change.line.length;
    if (bytes > batch.bytes) break;
    changes.push(change);
    last = row;
  }
  return { changes, last };
}
