import type { HandlerContext } from "@connectrpc/connect";
import {
  Change_View,
  type WatchChangesRequest,
  type WatchChangesResponse,
} from "../../../gen/iam/v1alpha/change_pb.ts";
import { authenticateOf, callerOf } from "../../access/evaluation/call.ts";
import { isRevision } from "../../changes/revision.ts";
import { createTurns } from "../../scheduling/turns.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { ChangesDependencies } from "../changes/dependencies.ts";
import { type FindOwner, holdsOf } from "../changes/find-owner.ts";
import { createReadable } from "../changes/readable-entries.ts";
import type { RecordRead } from "../changes/record-read.ts";
import { listChanges, pathOfOrg, withoutSlices } from "./required-permission.ts";
import { checkpoint, createResponses } from "./responses.ts";
import { type LogPosition, findStart, pageOfOne, readRevisionsAfter } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
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
      let start = from === "" ? undefined : await requireStart(dependencies, owner.id, from);
      if (start !== undefined) {
        yield checkpoint(start.revision, false);
        start = yield* readBefore(watcher, start, undefined);
      }
      const joined = await watches.join(watcher);
      if (start !== undefined) yield* readBefore(watcher, start, joined);
      yield checkpoint(joined, true);
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

/** Returns the revision after which a stream begins; empty for now. @throws ServiceError FIELD_INVALID */
function readStart({ afterRevision }: WatchChangesRequest, { requestHeader }: HandlerContext): string {
  // An EventSource that reconnects repeats its first request, with the id of the last event.
  const lastEventId = requestHeader.get("last-event-id");
  const from = lastEventId === null || lastEventId === "" ? afterRevision : lastEventId;
  if (from === "" || isRevision(from)) return from;
  const field = from === afterRevision ? "after_revision" : "Last-Event-ID";
  throw invalidField(field, "must be a revision, such as 00000000-0000-0732-9f3c-5b21c7e40d18");
}

/** @throws ServiceError REVISION_EXPIRED */
async function requireStart(
  { database }: Pick<ChangesDependencies, "database">,
  orgId: string,
  revision: string,
): Promise<LogPosition> {
  const { time, oldest, head } = await findStart(database, orgId, revision);
  if (time !== null) return { revision, since: time };
  // The last entries of an org that has not changed for long are no longer there.
  if (revision === head) return { revision, since: new Date() };
  const metadata = { oldest_revision: oldest ?? head };
  throw new ServiceError(
    "REVISION_EXPIRED",
    `the log does not have what follows the revision ${revision}: it is too old, or of a history that was lost; ` +
      `read the resources again, or begin with ${metadata.oldest_revision}, the oldest`,
    { metadata },
  );
}

/**
 * Reads what follows a position, up to a revision or as far as the log has it. As in a list, the caller sees what it may see now, which is
 * decided for each page.
 *
 * @returns how far it has read.
 */
type ReadBefore = (
  watcher: Watcher,
  from: LogPosition,
  to: string | undefined,
) => AsyncGenerator<WatchChangesResponse, LogPosition>;

function createReadBefore({ database, registry, authoriserOf, loggedMessage }: ChangesDependencies): ReadBefore {
  return async function* readBefore(watcher, from, to) {
    let position = from;
    const turns = createTurns();
    while (position.revision !== to) {
      const page = await readRevisionsAfter(database, watcher.orgId, position, pageOfOne);
      // The head of an org that has not changed for long is no longer in its log.
      if (page === undefined && position === from && to === undefined) return position;
      if (page === undefined || (page.revisions.length === 0 && to !== undefined)) throw streamEnded("LOG");
      await watcher.authenticate();
      const authoriser = await authoriserOf(watcher.caller(), withoutSlices);
      await authoriser.decide(listChanges, pathOfOrg(watcher.orgId));
      const readable = createReadable(registry, holdsOf(authoriser));
      for (const logged of page.revisions) {
        const responsesFor = createResponses(logged, position.revision, loggedMessage, turns);
        const responses = await responsesFor(watcher.view, readable);
        position = { revision: logged.revision, since: logged.entries[0].time_text };
        yield* responses;
        if (position.revision === to) break;
      }
      if (!page.hasMore && to === undefined) break;
    }
    return position;
  };
}
