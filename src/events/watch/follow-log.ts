// How a tail goes on with its log: page by page, so that nobody chooses how much is in memory, and so that a revision which is longer than
// a page reaches readers at the pace at which they read it.
import { applyEntry } from "../../access/engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { toLogEntry } from "../../access/snapshots/to-log-entry.ts";
import { numberOf } from "../../changes/revision.ts";
import { holdsOf } from "../changes/find-owner.ts";
import { createReadable } from "../changes/readable-entries.ts";
import { listChanges, pathOfOrg } from "./required-permission.ts";
import { createResponses } from "./responses.ts";
import { type FollowedHeads, type LoggedRevision, positionAfter, readPageAfter } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import { type TailState, authoriserFor, giveUp, onceForAudience } from "./tail-state.ts";
import { touchedBy } from "./watcher.ts";

/** Authenticates again whose credential may have ended. */
export function authenticateStale({ audience }: TailState, heads: FollowedHeads): Promise<void> {
  return audience.forEach(
    (watcher) => watcher.authenticate(heads),
    (watcher) => watcher.isStale(heads),
  );
}

/** Follows the log to a revision, which its page may not have yet. */
export async function followAll(state: TailState, to: string, heads: FollowedHeads): Promise<void> {
  if (state.position === undefined || state.position.revision === to) return;
  await authenticateStale(state, heads);
  while (await follow(state, to, heads));
}

/**
 * Follows the log to a revision, or as far as a page has it. Returns whether there may be more. A revision before the one that has been sent
 * is that of heads that were read earlier.
 */
export async function follow(state: TailState, to: string, heads: FollowedHeads): Promise<boolean> {
  const { database, orgId, position, part } = state;
  if (position === undefined || position.revision === to) return false;
  if (isBefore(to, part?.revision ?? position.revision)) return false;
  if (part !== undefined) await state.pace.whenTaken(state.audience.all().map(({ queue }) => queue));
  const page = await readPageAfter(database, orgId, part ?? position, "all");
  if (page === undefined || (part !== undefined && page.revisions[0]?.revision !== part.revision)) {
    giveUp(state, streamEnded("LOG"));
  }
  for (const logged of page?.revisions ?? []) {
    if (state.position === undefined || isBefore(to, logged.revision)) return false;
    if (state.part === undefined && !(await absorb(state, logged, heads))) return false;
    await send(state, logged, heads);
  }
  if (page?.hasGap !== true && (page?.hasMore === true || state.part !== undefined)) return true;
  // It was committed before the page was read, so what is between is missing, and will not come.
  if (state.position !== undefined && isBefore(state.position.revision, to)) giveUp(state, streamEnded("LOG"));
  return false;
}

/**
 * Advances the snapshot to a revision, and authenticates those again whose credentials it may be about, so that all of it is sent to whom it
 * leaves the right. Of a revision that is longer than a page, the rest is read for that. Returns false after all streams were ended.
 */
async function absorb(state: TailState, logged: LoggedRevision, heads: FollowedHeads): Promise<boolean> {
  try {
    let part = logged;
    for (;;) {
      if (state.snapshot !== undefined) apply(state.snapshot, part.entries);
      const touched = touchedBy(part.entries);
      await state.audience.forEach(
        (watcher) => watcher.authenticate(heads),
        (watcher) => watcher.isTouchedBy(touched),
      );
      if (part.isComplete) break;
      const [next] = (await readPageAfter(state.database, state.orgId, positionAfter(part), "all"))?.revisions ?? [];
      if (next?.revision !== logged.revision) throw streamEnded("LOG");
      part = next;
    }
    state.snapshot?.advanceTo(logged.revision);
    return true;
  } catch (error) {
    // It may be between two revisions.
    giveUp(state, error);
    return false;
  }
}

/** Sends a revision, or a part of it, to all watchers, each of which has what is before. */
async function send(state: TailState, logged: LoggedRevision, heads: FollowedHeads): Promise<void> {
  const { registry, audience, orgId, turns, position } = state;
  // All have left.
  if (position === undefined) return;
  const responsesFor = createResponses(logged, position.revision, state, turns);
  if (logged.isComplete) {
    [state.position, state.part] = [positionAfter(logged), undefined];
    state.signedEnd.note(logged.entries.at(-1) ?? logged.entries[0]);
  } else {
    if (state.part === undefined) state.pace.begin();
    state.part = positionAfter(logged);
  }
  const responsesOf = onceForAudience(async (watcher) => {
    const authoriser = await authoriserFor(state, watcher, heads);
    await authoriser.decide(listChanges, pathOfOrg(orgId));
    return responsesFor(watcher.view, createReadable(registry, holdsOf(authoriser)));
  });
  await audience.forEach(async (watcher) => {
    await turns();
    watcher.send(await responsesOf(watcher), state.bytesOf);
  });
}

function apply(snapshot: OrgSnapshot, entries: LoggedRevision["entries"]): void {
  for (const entry of entries) applyEntry(snapshot, toLogEntry(entry));
}

function isBefore(one: string, other: string): boolean {
  return numberOf(one) < numberOf(other);
}
