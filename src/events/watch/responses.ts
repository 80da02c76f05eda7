// The messages of a stream. Those who see the same of a change share its message.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type ChangesHead,
  type WatchChangesResponse,
  WatchChangesResponseSchema,
} from "../../../gen/iam/v1alpha/change_pb.ts";
import type { LoggedMessage } from "../changes/logged-messages.ts";
import type { KeyPath, OwnerPaths } from "../changes/logged-place.ts";
import { toChange } from "../changes/message.ts";
import type { Readable, View } from "../changes/readable-entries.ts";
import type { Turns } from "../../scheduling/turns.ts";
import type { StateResource } from "./state-sources.ts";
import type { LoggedRevision } from "./store.ts";

/** Makes the messages of a revision. */
export type RevisionResponses = (view: View, readable: Readable) => Promise<readonly WatchChangesResponse[]>;

/** What messages are made with. */
export interface MakesMessages {
  readonly loggedMessage: LoggedMessage;
  readonly keyPathOf: KeyPath;
  readonly ownerPathsOf: OwnerPaths;
}

/**
 * @param before the revision before it, from which a stream resumes that has not sent all of it.
 * @param turns of what makes them: a revision can have thousands of changes.
 * @param resumeAt returns from where a stream resumes that has sent everything up to a revision.
 */
export function createResponses(
  { revision, entries, isComplete }: LoggedRevision,
  before: string,
  { loggedMessage, keyPathOf, ownerPathsOf }: MakesMessages,
  turns: Turns,
  resumeAt: (revision: string) => string = (each) => each,
): RevisionResponses {
  const made = new Map<string, WatchChangesResponse>();
  return async (view, readable) => {
    const responses: WatchChangesResponse[] = [];
    for (const [index, row] of entries.entries()) {
      const turn = turns();
      if (turn !== undefined) await turn;
      const shown = await readable.shown(row, view);
      const key = [index, ...Object.values(shown)].join(" ");
      const respond = (keyPath: string): WatchChangesResponse =>
        create(WatchChangesResponseSchema, {
          event: { case: "change", value: toChange(row, shown, loggedMessage) },
          resumeRevision: resumeAt(isComplete && index === entries.length - 1 ? revision : before),
          keyPath,
          ownerPaths: shown.resource && row.after !== null ? [...ownerPathsOf(row, keyPath)] : [],
        });
      const response = made.get(key) ?? respond(keyPathOf(row));
      made.set(key, response);
      responses.push(response);
    }
    return responses;
  };
}

/** Returns the message of a resource as it is. @param states whether it has the resource itself. */
export function stateOf(
  resource: StateResource,
  states: boolean,
  { loggedMessage, keyPathOf, ownerPathsOf }: MakesMessages,
  resumeRevision: string,
): WatchChangesResponse {
  const { resource_type: resourceType, resource_path: resourcePath, after } = resource;
  const shown = states ? { resource: loggedMessage(resourceType, after, resourcePath) } : {};
  const keyPath = keyPathOf(resource);
  return create(WatchChangesResponseSchema, {
    event: { case: "state", value: { resourceType, resourcePath, ...shown } },
    resumeRevision,
    keyPath,
    ownerPaths: [...ownerPathsOf(resource, keyPath)],
  });
}

/** Says that all up to a revision has been sent, which is not the head of the log. */
export function checkpoint(revision: string, resumeRevision = revision): WatchChangesResponse {
  const value = { revision, synced: false };
  return create(WatchChangesResponseSchema, { event: { case: "checkpoint", value }, resumeRevision });
}

/** Says that a stream is at the head of the log. @param head signed, for streams that prove what they send. */
export function syncedCheckpoint(revision: string, head: ChangesHead | undefined): WatchChangesResponse {
  const value = { revision, synced: true, ...(head !== undefined && { head }) };
  return create(WatchChangesResponseSchema, { event: { case: "checkpoint", value }, resumeRevision: revision });
}

/** Returns how many bytes a message has. */
export type BytesOf = (response: WatchChangesResponse) => number;

/** Creates the function that measures messages, each once: those who see the same share them. */
export function createBytesOf(): BytesOf {
  const known = new WeakMap<WatchChangesResponse, number>();
  return (response) => {
    const bytes = known.get(response) ?? toBinary(WatchChangesResponseSchema, response).length;
    known.set(response, bytes);
    return bytes;
  };
}
