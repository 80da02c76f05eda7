import { hash } from "node:crypto";
import type { WatchChangesResponse } from "../../../gen/iam/v1alpha/change_pb.ts";
import type { Caller } from "../../identity/caller.ts";
import type { ChangeRow } from "../changes/store.ts";
import type { View } from "../changes/readable-entries.ts";
import type { BytesOf } from "./responses.ts";
import { streamEnded } from "./stream-ended.ts";
import type { FollowedHeads } from "./store.ts";
import { type StreamQueue, createStreamQueue } from "./stream-queue.ts";

/** A stream of the changes of an org, as what follows the log sees it. */
export interface Watcher {
  readonly orgId: string;
  readonly view: View;
  readonly queue: StreamQueue<WatchChangesResponse>;
  /** As it was last authenticated. */
  readonly caller: () => Caller;
  /** Whether the caller is a member of the org that is watched: then the log itself says at which revision it may see what. */
  readonly isOwn: boolean;
  /** Of watchers with the same text, the same is decided and sent. It has all of the caller that decisions depend on. */
  readonly audienceKey: () => string;
  /** The other orgs that decide about the caller: its own, and that of its client. */
  readonly otherOrgIds: readonly string[];
  /** Authenticates the caller again. @throws ServiceError TOKEN_INVALID and others, as at the gate. */
  readonly authenticate: (heads?: FollowedHeads) => Promise<void>;
  /** Whether the caller is to be authenticated again: its time is over, or it is long ago, or another org that decides has changed. */
  readonly isStale: (heads: FollowedHeads) => boolean;
  /** Whether a revision may be about the credential of the caller. */
  readonly isTouchedBy: (touched: Touched) => boolean;
  /** Adds messages to the queue. @throws ServiceError STREAM_ENDED if too many wait, which are forgotten then. */
  readonly send: (responses: readonly WatchChangesResponse[], bytesOf: BytesOf) => void;
  /** Returns for how long nothing was sent, in milliseconds. */
  readonly silentMs: () => number;
  /** Returns for how long no checkpoint was sent, in milliseconds. */
  readonly uncheckedMs: () => number;
}

/** What a revision names. */
interface Touched {
  /** The ids of what was changed. */
  readonly resources: ReadonlySet<unknown>;
  /** These, and all values in the columns of what was changed. */
  readonly values: ReadonlySet<unknown>;
}

/** How many messages may wait for a reader, and how many bytes of them. Those who see the same share them. */
const maxWaiting = { items: 2_000, bytes: 16_777_216 };

/** After this time, a caller is authenticated again even if nothing says so. */
const authenticatedMs = 15_000;

export function createWatcher(
  orgId: string,
  view: View,
  first: Caller,
  authenticateCaller: () => Promise<Caller>,
): Watcher {
  const queue = createStreamQueue<WatchChangesResponse>(maxWaiting);
  const ids = credentialIds(first);
  const clientOrgId = first.token?.clientOrgId ?? first.orgId;
  const otherOrgIds = [...new Set([first.orgId, clientOrgId])].filter((id) => id !== orgId);
  let caller = first;
  let audienceKey = audienceKeyOf(first, view);
  let authenticatedAt = performance.now();
  let sentAt = performance.now();
  let checkedAt = sentAt;
  /** The heads of the other orgs with which the caller was authenticated. */
  let seen: readonly (string | undefined)[] = [];
  const endTime = (): number =>
    Math.min(caller.credentialExpireTime?.getTime() ?? Infinity, caller.token?.expireTime ?? Infinity);
  const headsOf = (heads: FollowedHeads) => otherOrgIds.map((id) => heads.of(id));
  return {
    orgId,
    view,
    queue,
    caller: () => caller,
    isOwn: first.orgId === orgId,
    audienceKey: () => audienceKey,
    otherOrgIds,

    async authenticate(heads) {
      const startedAt = performance.now();
      caller = await authenticateCaller();
      audienceKey = audienceKeyOf(caller, view);
      authenticatedAt = startedAt;
      if (heads !== undefined) seen = headsOf(heads);
    },

    isStale: (heads) =>
      endTime() <= heads.now ||
      performance.now() > authenticatedAt + authenticatedMs ||
      headsOf(heads).some((revision, index) => revision !== seen[index]),

    // Any entry can end the permission to impersonate: of a role, or of a group, too.
    isTouchedBy: ({ resources, values }) =>
      first.impersonator !== undefined || resources.has(first.orgId) || ids.some((id) => values.has(id)),

    send(responses, bytesOf) {
      sentAt = performance.now();
      if (responses.at(-1)?.event.case === "checkpoint") checkedAt = sentAt;
      if (responses.every((response) => queue.push(response, bytesOf(response)))) return;
      queue.clear();
      throw streamEnded("SLOW_READER");
    },

    silentMs: () => performance.now() - sentAt,
    uncheckedMs: () => performance.now() - checkedAt,
  };
}

/** Returns the ids of what can end a credential. */
function credentialIds({ memberId, credentialId, clientId, token, impersonator }: Caller): readonly string[] {
  const ofToken = token === undefined ? [] : [token.id, token.sessionId, ...token.exchangedFrom];
  const ids = [memberId, credentialId, clientId, impersonator?.memberId, impersonator?.tokenId, ...ofToken];
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** Returns what the entries of a revision name. */
export function touchedBy(entries: readonly ChangeRow[]): Touched {
  const resources = new Set<unknown>(entries.map(({ resource_id: id }) => id));
  const columns = entries.flatMap(({ before, after }) => [
    ...Object.values(before ?? {}),
    ...Object.values(after ?? {}),
  ]);
  return { resources, values: new Set<unknown>([...resources, ...columns]) };
}

/** Returns a text of what is decided by: all of a caller but the heads that were read with it, and the time. */
function audienceKeyOf(caller: Caller, view: View): string {
  const { orgHead: _head, recentHeads: _heads, time: _time, ...decides } = caller;
  return hash("sha256", JSON.stringify([decides, view]), "base64");
}
