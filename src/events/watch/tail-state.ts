// What is known of the end of a log that is followed. log-tail.ts and follow-log.ts have the steps that change it, one after the other.
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import type { Authorise, CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import type { Snapshots } from "../../access/snapshots/current-snapshots.ts";
import type { SignHead } from "../../changes/signed-head.ts";
import type { Database } from "../../database/database.ts";
import type { Turns } from "../../scheduling/turns.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import type { Audience } from "./audience.ts";
import type { Pace } from "./pace.ts";
import { withoutSlices } from "./required-permission.ts";
import type { BytesOf, MakesMessages } from "./responses.ts";
import type { SignedEnd } from "./signed-end.ts";
import type { EntryPosition, FollowedHeads, LogPosition } from "./store.ts";
import type { Watcher } from "./watcher.ts";

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

export interface TailState extends TailDependencies {
  readonly orgId: string;
  readonly audience: Audience;
  /** The last revision that was sent whole; undefined without watchers. */
  position: LogPosition | undefined;
  /** How far the next revision was sent, of which some was; undefined if none was. */
  part: EntryPosition | undefined;
  readonly pace: Pace;
  /** At the same revision, or that of the part, if there are watchers that need it. */
  snapshot: OrgSnapshot | undefined;
  /** How many watchers are about to be added: what they need stays. */
  joining: number;
  decidedAt: number;
  readonly turns: Turns;
  readonly bytesOf: BytesOf;
  readonly signedEnd: SignedEnd;
}

/** Forgets what nobody needs. */
export function forget(state: TailState): void {
  if (state.joining > 0) return;
  const watchers = state.audience.all();
  if (!watchers.some(({ isOwn }) => isOwn)) replaceSnapshot(state, undefined);
  if (watchers.length === 0) [state.position, state.part] = [undefined, undefined];
}

/** A snapshot that is replaced takes no memory any more. */
export function replaceSnapshot(state: TailState, snapshot: OrgSnapshot | undefined): void {
  if (state.snapshot !== undefined && state.snapshot !== snapshot) state.snapshots.release(state.snapshot);
  state.snapshot = snapshot;
}

/** Ends all streams with an error, after which nothing is known of the log. */
export function giveUp(state: TailState, error: unknown): void {
  state.audience.endAll(error);
  [state.position, state.part] = [undefined, undefined];
  replaceSnapshot(state, undefined);
}

/** Runs something once for all watchers of whom the same is decided, at the same heads: many streams are of one application. */
export function onceForAudience<Result>(
  run: (watcher: Watcher) => Promise<Result>,
): (watcher: Watcher) => Promise<Result> {
  const results = new Map<string, Promise<Result>>();
  return (watcher) => {
    const key = watcher.audienceKey();
    const result = results.get(key) ?? run(watcher);
    results.set(key, result);
    return result;
  };
}

/** Returns what decides about a watcher at the revision of the snapshot or, for one of another org, at the heads. */
export function authoriserFor(state: TailState, watcher: Watcher, heads: FollowedHeads): Promise<CallerAuthoriser> {
  const { snapshot, authoriserIn, authoriserOf } = state;
  // What was read of other orgs when the stream began does not decide later.
  const caller = { ...watcher.caller(), recentHeads: [], time: heads.now };
  if (watcher.isOwn && snapshot !== undefined) return authoriserIn(snapshot, caller, withoutSlices);
  const orgHead = { revision: heads.of(caller.orgId) ?? "", readAt: heads.readAt };
  return authoriserOf({ ...caller, orgHead }, withoutSlices);
}
