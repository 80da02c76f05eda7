import type { HandlerContext } from "@connectrpc/connect";
import {
  Change_View,
  type WatchChangesRequest,
  type WatchChangesResponse,
} from "../../../gen/iam/v1alpha/change_pb.ts";
import { authenticateOf, callerOf } from "../../access/evaluation/call.ts";
import type { ChangesDependencies } from "../changes/dependencies.ts";
import type { FindOwner } from "../changes/find-owner.ts";
import type { RecordRead } from "../changes/record-read.ts";
import { createReadBefore } from "./read-before.ts";
import { withoutSlices } from "./required-permission.ts";
import { checkpoint, syncedCheckpoint } from "./responses.ts";
import { createSendState } from "./send-state.ts";
import type { LogPosition } from "./store.ts";
import type { StreamPosition } from "./stream-position.ts";
import { readStart, requireStart } from "./stream-start.ts";
import { type Watcher, createWatcher } from "./watcher.ts";

type WatchChanges = (request: WatchChangesRequest, context: HandlerContext) => AsyncGenerator<WatchChangesResponse>;

/** How often the log says that a caller reads it. */
const recordedMs = 3_600_000;

/** Creates the handler of streams. What is in the log before a stream is at its head is read page by page, at the pace of its reader. */
export function createWatchChanges(
  dependencies: ChangesDependencies,
  findOwner: FindOwner,
  recordRead: RecordRead,
): WatchChanges {
  const { watches, authoriserOf } = dependencies;
  const readBefore = createReadBefore(dependencies);
  const sendState = createSendState(dependencies, readBefore);

  /** Sends what comes before the head of the log. Returns how far that is; undefined for a stream that begins now. */
  async function* begin(
    watcher: Watcher,
    request: WatchChangesRequest,
    context: HandlerContext,
    from: StreamPosition | undefined,
  ): AsyncGenerator<WatchChangesResponse, LogPosition | undefined> {
    const isWithState = from === undefined ? request.initialState : from.state !== undefined;
    if (isWithState) return yield* sendState(watcher, context, from);
    if (from === undefined) return undefined;
    const start = await requireStart(dependencies, watcher.orgId, from.revision);
    yield checkpoint(start.revision);
    return yield* readBefore(watcher, start, undefined);
  }

  return async function* watchChanges(request, context) {
    const from = readStart(request, context);
    const { owner, path } = await findOwner(context, await authoriserOf(callerOf(context), withoutSlices));
    if (owner.kind !== "org") throw new Error("only the log of an org is watched");
    await recordRead(context, owner, path);
    let recordedAt = performance.now();
    const view = { states: request.view !== Change_View.BASIC, proof: request.view === Change_View.PROVED };
    const watcher = createWatcher(owner.id, view, callerOf(context), authenticateOf(context));
    const { signal } = context;
    const stop = (): void => {
      watches.leave(watcher);
      watcher.queue.clear();
      watcher.queue.end(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      const start = yield* begin(watcher, request, context, from);
      const joined = await watches.join(watcher);
      if (start !== undefined) yield* readBefore(watcher, start, joined.revision);
      yield syncedCheckpoint(joined.revision, joined.head);
      for (;;) {
        yield* await watcher.queue.take();
        if (performance.now() < recordedAt + recordedMs) continue;
        await recordRead(context, owner, path);
        recordedAt = performance.now();
      }
    } finally {
      stop();
      signal.removeEventListener("abort", stop);
    }
  };
}
