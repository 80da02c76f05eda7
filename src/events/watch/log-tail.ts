// The end of the log of one org, which is read once for all that watch it. What a watcher may see is decided at each revision. The log
// itself says what the members of its org hold: a snapshot of the org is advanced with the log, so that they are at the same revision. What
// others hold is not in it: it is decided at the heads of their orgs, which are read together with that of the log, so a change that was
// committed after they had lost their access is not sent to them.
import type { ChangesHead } from "../../../gen/iam/v1alpha/change_pb.ts";
import { applyEntry } from "../../access/engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { Authorise, CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import type { Snapshots } from "../../access/snapshots/current-snapshots.ts";
import { toLogEntry } from "../../access/snapshots/to-log-entry.ts";
import { numberOf } from "../../changes/revision.ts";
import type { SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import { type ServiceError, notFound } from "../../errors/service-error.ts";
import { byId } from "../../paths/format-path.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { type Turns, createTurns } from "../../scheduling/turns.ts";
import { holdsOf } from "../changes/find-owner.ts";
import { createReadable } from "../changes/readable-entries.ts";
import { type Audience, createAudience } from "./audience.ts";
import { type BytesOf, type MakesMessages, createBytesOf, createResponses, syncedCheckpoint } from "./responses.ts";
import { type SignedEnd, createSignedEnd } from "./signed-end.ts";
import { listChanges, pathOfOrg, withoutSlices } from "./required-permission.ts";
import { type FollowedHeads, type LogPosition, type LoggedRevision, findStart, readRevisionsAfter } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import { type Watcher, touchedBy } from "./watcher.ts";

export interface TailDependencies extends MakesMessages {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly snapshots: Pick<Snapshots, "readOwn" | "release">;
  readonly authoriserOf: Authorise["authoriserOf"];
  readonly authoriserIn: Authorise["authoriserIn"];
  readonly signHead: SignHead;
  /** For how long a stream is silent before it sends a checkpoint, in milliseconds. */
  readonly checkpointMs: number;
}

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

/** A tail, as its steps change it. They run one after the other. */
interface State extends TailDependencies {
  readonly orgId: string;
  readonly audience: Audience;
  /** How far the log was sent; undefined without watchers. */
  position: LogPosition | undefined;
  /** At the same revision, if there are watchers that need it. */
  snapshot: OrgSnapshot | undefined;
  /** How many watchers are about to be added: what they need stays. */
  joining: number;
  decidedAt: number;
  readonly turns: Turns;
  readonly bytesOf: BytesOf;
  readonly signedEnd: SignedEnd;
}

/** The least time between two decisions about a watcher to whom nothing is sent. */
const decideMs = 900;

/** How many times as long as silence the time is after which a stream with proofs has a checkpoint with a signed head, also among changes. */
const headsAfter = 4;

export function createLogTail(orgId: string, dependencies: TailDependencies): LogTail {
  const state: State = {
    ...dependencies,
    orgId,
    audience: createAudience(() => forget(state)),
    position: undefined,
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

/** Forgets what nobody needs. */
function forget(state: State): void {
  if (state.joining > 0) return;
  const watchers = state.audience.all();
  if (!watchers.some(({ isOwn }) => isOwn)) replaceSnapshot(state, undefined);
  if (watchers.length === 0) state.position = undefined;
}

/** A snapshot that is replaced takes no memory any more. */
function replaceSnapshot(state: State, snapshot: OrgSnapshot | undefined): void {
  if (state.snapshot !== undefined && state.snapshot !== snapshot) state.snapshots.release(state.snapshot);
  state.snapshot = snapshot;
}

async function join(state: State, watcher: Watcher, readNow: ReadNow): Promise<Joined> {
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
  state: State,
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
  const signed = await headFor(state, watcher, revision);
  watcher.queue.requireOpen();
  audience.add(watcher);
  return { revision, head: signed };
}

/** Ends all streams with an error, after which nothing is known of the log. */
function giveUp(state: State, error: unknown): void {
  state.audience.endAll(error);
  state.position = undefined;
  replaceSnapshot(state, undefined);
}

async function advance(state: State, heads: FollowedHeads): Promise<boolean> {
  const { orgId, audience } = state;
  await authenticateStale(state, heads);
  const head = heads.of(orgId);
  if (head === undefined) audience.endAll(noOrg(state));
  else if (await follow(state, head, heads)) return true;
  await decideAgain(state, heads);
  await sendCheckpoints(state);
  return false;
}

/** Says where the log is to watchers that have heard nothing for long, and to those with proofs also if they have. */
async function sendCheckpoints(state: State): Promise<void> {
  const { position, checkpointMs, audience, bytesOf } = state;
  if (position === undefined) return;
  const { revision } = position;
  await audience.forEach(async (watcher) => {
    const isSilent = watcher.queue.isEmpty() && watcher.silentMs() >= checkpointMs;
    if (!isSilent && !(watcher.view.proof && watcher.uncheckedMs() >= headsAfter * checkpointMs)) return;
    watcher.send([syncedCheckpoint(revision, await headFor(state, watcher, revision))], bytesOf);
  });
}

/** Returns the end of the log, signed, for a watcher that is shown proofs. */
async function headFor({ signedEnd }: State, { view }: Watcher, revision: string): Promise<ChangesHead | undefined> {
  return view.proof ? signedEnd.at(revision) : undefined;
}

/** Authenticates again whose credential may have ended. */
function authenticateStale({ audience }: State, heads: FollowedHeads): Promise<void> {
  return audience.forEach(async (watcher) => {
    if (watcher.isStale(heads)) await watcher.authenticate(heads);
  });
}

/** Follows the log to a revision, which its page may not have yet. */
async function followAll(state: State, to: string, heads: FollowedHeads): Promise<void> {
  if (state.position === undefined || state.position.revision === to) return;
  await authenticateStale(state, heads);
  while (await follow(state, to, heads));
}

/**
 * Follows the log to a revision, or as far as a page has it. Returns whether there is more. A revision before the one that has been sent is
 * that of heads that were read earlier.
 */
async function follow(state: State, to: string, heads: FollowedHeads): Promise<boolean> {
  const { database, orgId, position } = state;
  if (position === undefined || position.revision === to || isBefore(to, position.revision)) return false;
  const page = await readRevisionsAfter(database, orgId, position);
  if (page === undefined) giveUp(state, streamEnded("LOG"));
  for (const logged of page?.revisions ?? []) {
    if (state.position === undefined || isBefore(to, logged.revision)) return false;
    const before = state.position.revision;
    try {
      if (state.snapshot !== undefined) advanceBy(state.snapshot, logged);
    } catch (error) {
      // It may be between two revisions.
      giveUp(state, error);
      return false;
    }
    state.position = { revision: logged.revision, since: logged.entries[0].time_text };
    state.signedEnd.note(logged.entries.at(-1) ?? logged.entries[0]);
    await send(state, logged, before, heads);
  }
  return page?.hasMore === true;
}

function advanceBy(snapshot: OrgSnapshot, { revision, entries }: LoggedRevision): void {
  for (const entry of entries) applyEntry(snapshot, toLogEntry(entry));
  snapshot.advanceTo(revision);
}

/** Sends a revision to all watchers, each of which is at the one before. */
async function send(state: State, logged: LoggedRevision, before: string, heads: FollowedHeads): Promise<void> {
  const { registry, audience, orgId, turns } = state;
  const responsesFor = createResponses(logged, before, state, turns);
  const touched = touchedBy(logged.entries);
  const responsesOf = onceForAudience(async (watcher) => {
    const authoriser = await authoriserFor(state, watcher, heads);
    await authoriser.decide(listChanges, pathOfOrg(orgId));
    return responsesFor(watcher.view, createReadable(registry, holdsOf(authoriser)));
  });
  await audience.forEach(async (watcher) => {
    await turns();
    if (watcher.isTouchedBy(touched)) await watcher.authenticate(heads);
    watcher.send(await responsesOf(watcher), state.bytesOf);
  });
}

/** Runs something once for all watchers of whom the same is decided, at the same heads: many streams are of one application. */
function onceForAudience<Result>(run: (watcher: Watcher) => Promise<Result>): (watcher: Watcher) => Promise<Result> {
  const results = new Map<string, Promise<Result>>();
  return (watcher) => {
    const key = watcher.audienceKey();
    const result = results.get(key) ?? run(watcher);
    results.set(key, result);
    return result;
  };
}

/** Decides again about all watchers, for what ends by time. */
async function decideAgain(state: State, heads: FollowedHeads): Promise<void> {
  if (performance.now() < state.decidedAt + decideMs) return;
  state.decidedAt = performance.now();
  const decide = onceForAudience(async (watcher) => {
    await (await authoriserFor(state, watcher, heads)).decide(listChanges, pathOfOrg(state.orgId));
  });
  await state.audience.forEach(decide);
}

/** Returns what decides about a watcher at the revision of the snapshot or, for one of another org, at the heads. */
function authoriserFor(state: State, watcher: Watcher, heads: FollowedHeads): Promise<CallerAuthoriser> {
  const { snapshot, authoriserIn, authoriserOf } = state;
  const caller = { ...watcher.caller(), time: heads.now };
  if (watcher.isOwn && snapshot !== undefined) return authoriserIn(snapshot, caller, withoutSlices);
  const orgHead = { revision: heads.of(caller.orgId) ?? "", readAt: heads.readAt };
  return authoriserOf({ ...caller, orgHead }, withoutSlices);
}

function isBefore(one: string, other: string): boolean {
  return numberOf(one) < numberOf(other);
}

function noOrg({ orgId }: State): ServiceError {
  return notFound("org", `orgs/${byId(orgId)}`);
}
