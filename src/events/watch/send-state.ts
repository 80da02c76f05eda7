// The state of the resources, with which a stream can begin. It is read page by page, each at a revision of its own, in no transaction that
// would be open for as long as a reader likes. Before a page is sent, the stream sends what the log has up to the revision of the page. So
// whatever was sent is, at each moment, as it was at the revision that the stream is at: what changes behind the place of the stream is in
// the log, and what changes before it is on a later page, too.
import type { HandlerContext } from "@connectrpc/connect";
import type { WatchChangesResponse } from "../../../gen/iam/v1alpha/change_pb.ts";
import { createTurns } from "../../scheduling/turns.ts";
import type { ChangesDependencies } from "../changes/dependencies.ts";
import { type ReadBefore, readableNow } from "./read-before.ts";
import { checkpoint, stateOf } from "./responses.ts";
import type { LogPosition } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import { type StatePlace, type StreamPosition, formatPosition } from "./stream-position.ts";
import { invalidStart, requireStart, unknownPlace } from "./stream-start.ts";
import type { Watcher } from "./watcher.ts";

/**
 * Sends the state, from its beginning or from the place of a stream that has ended.
 *
 * @returns the position of the stream after that.
 * @throws ServiceError FIELD_INVALID, REVISION_EXPIRED, STREAM_ENDED, PERMISSION_DENIED, TOKEN_INVALID
 */
export type SendState = (
  watcher: Watcher,
  context: HandlerContext,
  from: StreamPosition | undefined,
) => AsyncGenerator<WatchChangesResponse, LogPosition>;

export function createSendState(dependencies: ChangesDependencies, readBefore: ReadBefore): SendState {
  const { statePages, listQueue } = dependencies;
  return async function* sendState(watcher, context, from) {
    const { orgId, view } = watcher;
    // As in a list, the orgs share the connections.
    const queued = { orgId: watcher.caller().orgId, target: undefined, signal: () => context.signal };
    const read = (place: StatePlace) => listQueue.run(queued, () => statePages.read(orgId, place));
    const turns = createTurns();
    let place = from?.state ?? statePages.start(orgId);
    // Another version may have given it, or a server that has the log of customers elsewhere.
    if (from !== undefined && !statePages.hasType(orgId, place.type)) {
      throw await unknownPlace(dependencies, orgId, from.revision);
    }
    if (!statePages.has(orgId, place)) throw invalidStart();
    let position = from && (await requireStart(dependencies, orgId, from.revision));
    if (position !== undefined) yield checkpoint(position.revision, formatPosition(position.revision, place));
    for (;;) {
      const sent = place;
      const { revision, rows, next } = await read(place);
      if (revision === undefined) throw streamEnded("LOG");
      if (position === undefined) {
        position = await requireStart(dependencies, orgId, revision);
        yield checkpoint(revision, formatPosition(revision, place));
      }
      position = yield* readBefore(watcher, position, revision, (each) => formatPosition(each, sent));
      // After the page: what the caller may no longer see is not sent, although the page has it.
      const readable = await readableNow(dependencies, watcher);
      const areReadable = await Promise.all(rows.map(({ resource }) => readable.resource(resource)));
      for (const [index, row] of rows.entries()) {
        const turn = turns();
        if (turn !== undefined) await turn;
        if (areReadable[index] !== true) continue;
        yield stateOf(row.resource, view.states, dependencies, formatPosition(revision, row.place));
      }
      if (next === undefined) return position;
      place = next;
    }
  };
}
