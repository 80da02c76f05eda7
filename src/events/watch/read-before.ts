// What is in the log before a stream is at its head, page by page and at the pace of its reader.
import type { WatchChangesResponse } from "../../../gen/iam/v1alpha/change_pb.ts";
import { type Readable, createReadable } from "../changes/readable-entries.ts";
import { createTurns } from "../../scheduling/turns.ts";
import type { ChangesDependencies } from "../changes/dependencies.ts";
import { holdsOf } from "../changes/find-owner.ts";
import { listChanges, pathOfOrg, withoutSlices } from "./required-permission.ts";
import { createResponses } from "./responses.ts";
import { type EntryPosition, type LogPosition, positionAfter, readPageAfter } from "./store.ts";
import { streamEnded } from "./stream-ended.ts";
import type { Watcher } from "./watcher.ts";

/**
 * Reads what follows a position, up to a revision or as far as the log has it. As in a list, the caller sees what it may see now, which is
 * decided for each page.
 *
 * @param resumeAt returns from where the stream resumes when everything up to a revision was sent.
 * @returns how far it has read.
 */
export type ReadBefore = (
  watcher: Watcher,
  from: LogPosition,
  to: string | undefined,
  resumeAt?: (revision: string) => string,
) => AsyncGenerator<WatchChangesResponse, LogPosition>;

export function createReadBefore(dependencies: ChangesDependencies): ReadBefore {
  const { database } = dependencies;
  return async function* readBefore(watcher, from, to, resumeAt) {
    let position: EntryPosition = from;
    /** The last revision that was sent whole. */
    let sent = from.revision;
    const turns = createTurns();
    while (sent !== to) {
      const page = await readPageAfter(database, watcher.orgId, position, "one");
      // The head of an org that has not changed for long is no longer in its log.
      if (page === undefined && position === from && to === undefined) return from;
      if (page === undefined || (page.revisions.length === 0 && to !== undefined)) throw streamEnded("LOG");
      const readable = await readableNow(dependencies, watcher);
      for (const logged of page.revisions) {
        const responsesFor = createResponses(logged, sent, dependencies, turns, resumeAt);
        const responses = await responsesFor(watcher.view, readable);
        position = positionAfter(logged);
        if (logged.isComplete) sent = logged.revision;
        yield* responses;
        if (sent === to) break;
      }
      if (page.hasGap && sent !== to) throw streamEnded("LOG");
      if (!page.hasMore && to === undefined) break;
    }
    return position;
  };
}

/** Decides what a watcher may see now. @throws ServiceError PERMISSION_DENIED, TOKEN_INVALID */
export async function readableNow(
  { registry, authoriserOf }: Pick<ChangesDependencies, "registry" | "authoriserOf">,
  watcher: Watcher,
): Promise<Readable> {
  await watcher.authenticate();
  const authoriser = await authoriserOf(watcher.caller(), withoutSlices);
  await authoriser.decide(listChanges, pathOfOrg(watcher.orgId));
  return createReadable(registry, holdsOf(authoriser));
}
