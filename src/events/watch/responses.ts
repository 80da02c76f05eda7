// The messages of a stream. Those who see the same of a change share its message.
import { create } from "@bufbuild/protobuf";
import { type WatchChangesResponse, WatchChangesResponseSchema } from "../../../gen/iam/v1alpha/change_pb.ts";
import type { LoggedMessage } from "../changes/logged-messages.ts";
import { toChange } from "../changes/message.ts";
import type { Readable, View } from "../changes/readable-entries.ts";
import type { Turns } from "../../scheduling/turns.ts";
import type { LoggedRevision } from "./store.ts";

/** Makes the messages of a revision. */
export type RevisionResponses = (view: View, readable: Readable) => Promise<readonly WatchChangesResponse[]>;

/**
 * @param before the revision before it, from which a stream resumes that has not sent all of it.
 * @param turns of what makes them: a revision can have thousands of changes.
 */
export function createResponses(
  { revision, entries }: LoggedRevision,
  before: string,
  loggedMessage: LoggedMessage,
  turns: Turns,
): RevisionResponses {
  const made = new Map<string, WatchChangesResponse>();
  return async (view, readable) => {
    const responses: WatchChangesResponse[] = [];
    for (const [index, row] of entries.entries()) {
      const turn = turns();
      if (turn !== undefined) await turn;
      const shown = await readable.shown(row, view);
      const key = [index, ...Object.values(shown)].join(" ");
      const response =
        made.get(key) ??
        create(WatchChangesResponseSchema, {
          event: { case: "change", value: toChange(row, shown, loggedMessage) },
          resumeRevision: index === entries.length - 1 ? revision : before,
        });
      made.set(key, response);
      responses.push(response);
    }
    return responses;
  };
}

/** Says that all up to a revision has been sent. */
export function checkpoint(revision: string, synced: boolean): WatchChangesResponse {
  return create(WatchChangesResponseSchema, {
    event: { case: "checkpoint", value: { revision, synced } },
    resumeRevision: revision,
  });
}
