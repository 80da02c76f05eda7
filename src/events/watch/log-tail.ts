// The end of the log of one org, which is read once for all that watch it. What a watcher may see is decided at each revision. The log
// itself says what the members of its org hold: a snapshot of the org is advanced with the log, so that they are at the same revision. What
// others hold is not in it: it is decided at the heads of their orgs, which are read together with that of the log, so a change that was
// committed after they had lost their access is not sent to them.
import type { ChangesHead } from "../../../gen/iam/v1alpha/change_pb.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { type ServiceError, notFound } from "../../errors/service-error.ts";
import { byId } from "../../paths/format-path.ts";
import { createTurns } from "../../scheduling/turns.ts";
import { createAudience } from "./audience.ts";
import { authenticateStale, follow, followAll } from "./follow-log.ts";
import { createPace } from "./pace.ts";
import { listChanges, pathOfOrg } from "./required-permission.ts";
import { createBytesOf, syncedCheckpoint } from "./responses.ts";
import { createSignedEnd } from "./signed-end.ts";
import { type FollowedHeads, findStart } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import {
  type TailDependencies,
  type TailState,
  authoriserFor,
  forget,
  giveUp,
  onceForAudience,
  replaceSnapshot,
} from "./tail-state.ts";
import type { Watcher } from "./watcher.ts";

/** Where a watcher was added. */
export interface Joined {
  readonly revision: string;
  /** Signed, for one with proofs. */
  readonly head: ChangesHead | undefined;
}

export interface LogTail {
  /**
   * Adds a watcher, which gets what follows the returned end. That is the head of the log at some time after the call, or later.
   *
   * @param readNow reads the heads that decide about all watchers.
   * @throws ServiceError PERMISSION_DENIED, TOKEN_INVALID, RESOURCE_NOT_FOUND
   */
  join(watcher: Watcher, readNow: ReadNow): Promise<Joined>;
  /** Whether a watcher is about to be added. */
  isJoined(): boolean;
  leave(watcher: Watcher): void;
  /** Reads a page of what follows up to the heads, and sends it. Returns whether there is more. */
  advance(heads: FollowedHeads): Promise<boolean>;
}

type ReadNow = () => Promise<FollowedHeads>;

/** The least time between two decisions about a watcher to whom nothing is sent. */
const decideMs = 900;

/** How many times as long as silence the time is after which a stream with proofs has a checkpoint with a signed head, also among changes. */
const headsAfter = 4;

export function createLogTail(orgId: string, dependencies: TailDependencies): LogTail {
  const state: TailState = {
    ...dependencies,
    orgId,
    audience: createAudience(() => forget(state)),
    position: undefined,
    part: undefined,
    pace: createPace(),
    snapshot: undefined,
    joining: 0,
    decidedAt: performance.now(),
    turns: createTurns(),
    bytesOf: createBytesOf(),
    signedEnd: createSignedEnd(orgId, dependencies),
  };
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    join(watcher, readNow) {
      state.joining++;
      return inOrder(() => join(state, watcher, readNow)).finally(() => {
        state.joining--;
        forget(state);
      });
    },
    isJoined: () => state.joining > 0,
    leave: (watcher) => state.audience.leave(watcher),
    advance: (heads) => inOrder(() => advance(state, heads)),
  };
}

async function join(state: TailState, watcher: Watcher, readNow: ReadNow): Promise<Joined> {
  const { orgId, snapshots } = state;
  // Its caller may leave at any time, and the snapshot is not read for nobody.
  watcher.queue.requireOpen();
  const read = watcher.isOwn && state.snapshot === undefined ? await snapshots.readOwn(orgId) : undefined;
  try {
    return await joinWith(state, watcher, read, readNow);
  } finally {
    if (read !== undefined && state.snapshot !== read) snapshots.release(read);
  }
}

/** @param read the snapshot of the org, if it was read for this watcher. */
async function joinWith(
  state: TailState,
  watcher: Watcher,
  read: OrgSnapshot | undefined,
  readNow: ReadNow,
): Promise<Joined> {
  const { database, orgId, audience } = state;
  // After the snapshot: what leads to it is sent to others, whose orgs may have changed before it was committed.
  const heads = await readNow();
  const head = read?.revision ?? heads.of(orgId);
  if (head === undefined) throw noOrg(state);
  await followAll(state, head, heads);
  // The log does not have what was sent.
  if (state.position !== undefined && state.position.revision !== head) giveUp(state, streamEnded("LOG"));
  if (read === undefined && watcher.isOwn && state.snapshot === undefined) throw streamEnded("LOG");
  if (state.position === undefined) {
    const { time } = await findStart(database, orgId, head);
    state.position = { revision: head, since: time ?? new Date(heads.now) };
  }
  if (read !== undefined) replaceSnapshot(state, read);
  await watcher.authenticate(heads);
  await (await authoriserFor(state, watcher, heads)).decide(listChanges, pathOfOrg(orgId));
  const { revision } = state.position;
  const signed = await headFor(state, watcher, heads);
  watcher.queue.requireOpen();
  audience.add(watcher);
  return { revision, head: signed };
}

async function advance(state: TailState, heads: FollowedHeads): Promise<boolean> {
  const { orgId, audience } = state;
  await authenticateStale(state, heads);
  const head = heads.of(orgId);
  if (head === undefined) audience.endAll(noOrg(state));
  else if (await follow(state, head, heads)) return true;
  await decideAgain(state, heads);
  await sendCheckpoints(state, heads);
  return false;
}

/** Says where the log is to watchers that have heard nothing for long, and to those with proofs also if they have. */
async function sendCheckpoints(state: TailState, heads: FollowedHeads): Promise<void> {
  const { orgId, position, checkpointMs, audience, bytesOf } = state;
  // What is not at the head has more to send first.
  if (position === undefined || position.revision !== heads.of(orgId)) return;
  const { revision } = position;
  await audience.forEach(async (watcher) => {
    const isSilent = watcher.queue.isEmpty() && watcher.silentMs() >= checkpointMs;
    if (!isSilent && !(watcher.view.proof && watcher.uncheckedMs() >= headsAfter * checkpointMs)) return;
    watcher.send([syncedCheckpoint(revision, await headFor(state, watcher, heads))], bytesOf);
  });
}

/** Returns the end of the log, signed, for a watcher that is shown proofs; undefined if the log has gone on since the watcher's position. */
async function headFor(
  { orgId, position, signedEnd }: TailState,
  { view }: Watcher,
  heads: FollowedHeads,
): Promise<ChangesHead | undefined> {
  const revision = heads.of(orgId);
  if (!view.proof || revision === undefined || revision !== position?.revision) return undefined;
  return signedEnd.at(revision, heads.now);
}

/** Decides again about all watchers, for what ends by time. */
async function decideAgain(state: TailState, heads: FollowedHeads): Promise<void> {
  if (performance.now() < state.decidedAt + decideMs) return;
  state.decidedAt = performance.now();
  const decide = onceForAudience(async (watcher) => {
    await (await authoriserFor(state, watcher, heads)).decide(listChanges, pathOfOrg(state.orgId));
  });
  await state.audience.forEach(decide);
}

function noOrg({ orgId }: TailState): ServiceError {
  return notFound("org", `orgs/${byId(orgId)}`);
}
