import type { Client } from "@connectrpc/connect";
import type { Change, ChangesService, WatchChangesResponse } from "../../gen/iam/v1alpha/change_pb.ts";
import { Change_Type, type Change_View } from "../../gen/iam/v1alpha/change_pb.ts";

interface WatchRequest {
  readonly parentPath: string;
  readonly afterRevision?: string;
  readonly view?: Change_View;
  readonly initialState?: boolean;
}

/** An open stream of changes. */
export interface Watch {
  /** The messages that have come. */
  readonly received: readonly WatchChangesResponse[];
  /** Returns the changes that have come, without those that say who has read the log. */
  readonly changes: () => Change[];
  /** The revision from which to resume. */
  readonly resumeRevision: () => string;
  /** Returns when a message has come for which the condition is true. Rejects if the stream ends before. */
  readonly until: (condition: (message: WatchChangesResponse) => boolean) => Promise<WatchChangesResponse>;
  /** Rejects with the error with which the stream ends. */
  readonly ended: Promise<never>;
  readonly close: () => void;
}

/** Opens a stream of changes, and reads it. */
export function watchLog(
  { changes: client }: { readonly changes: Client<typeof ChangesService> },
  request: WatchRequest,
): Watch {
  const abort = new AbortController();
  const received: WatchChangesResponse[] = [];
  let wake = Promise.withResolvers<void>();
  const run = async (): Promise<never> => {
    for await (const message of client.watchChanges(request, { signal: abort.signal })) {
      received.push(message);
      wake.resolve();
      wake = Promise.withResolvers();
    }
    throw new Error("the stream has ended without an error");
  };
  const ended = run();
  ended.catch(() => undefined);
  return {
    received,
    ended,
    changes: () => received.flatMap((message) => changeOf(message) ?? []),
    resumeRevision: () => received.at(-1)?.resumeRevision ?? "",
    async until(condition) {
      for (let seen = 0; ; seen++) {
        while (seen >= received.length) await Promise.race([wake.promise, ended]);
        const message = received[seen];
        if (message !== undefined && condition(message)) return message;
      }
    },
    close: () => abort.abort(),
  };
}

/** Returns the change of a message; undefined for a checkpoint, and for what says who has read the log. */
export function changeOf({ event }: WatchChangesResponse): Change | undefined {
  return event.case === "change" && event.value.type !== Change_Type.READ ? event.value : undefined;
}

/** Whether a message says that the stream has reached the head of the log. */
export const isSynced = ({ event }: WatchChangesResponse): boolean => event.case === "checkpoint" && event.value.synced;

/** Whether a message is a change of a resource with this name. */
export const isAbout =
  (name: string) =>
  (message: WatchChangesResponse): boolean =>
    changeOf(message)?.resourcePath.endsWith(`/${name}`) === true;
