import type { HandlerContext } from "@connectrpc/connect";
import type { WatchChangesRequest } from "../../../gen/iam/v1alpha/change_pb.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import type { ChangesDependencies } from "../changes/dependencies.ts";
import { type LogPosition, findStart } from "./store.ts";
import { type StreamPosition, parsePosition } from "./stream-position.ts";

/** Returns from where a stream resumes; undefined for one that begins. @throws ServiceError FIELD_INVALID */
export function readStart(
  { afterRevision }: WatchChangesRequest,
  { requestHeader }: HandlerContext,
): StreamPosition | undefined {
  // An EventSource that reconnects repeats its first request, with the id of the last event.
  const lastEventId = requestHeader.get("last-event-id");
  const from = lastEventId === null || lastEventId === "" ? afterRevision : lastEventId;
  if (from === "") return undefined;
  const position = parsePosition(from);
  if (position === undefined) throw invalidStart(from === afterRevision ? "after_revision" : "Last-Event-ID");
  return position;
}

export function invalidStart(field = "after_revision"): ServiceError {
  const description =
    "must be the resume_revision of a stream of this org, or a revision, such as 00000000-0000-0732-9f3c-5b21c7e40d18";
  return invalidField(field, description);
}

/** @throws ServiceError REVISION_EXPIRED */
export async function requireStart(
  { database }: Pick<ChangesDependencies, "database">,
  orgId: string,
  revision: string,
): Promise<LogPosition> {
  const { time, oldest, head } = await findStart(database, orgId, revision);
  if (time !== null) return { revision, since: time };
  // The last entries of an org that has not changed for long are no longer there.
  if (revision === head) return { revision, since: new Date() };
  const description = `the log does not have what follows the revision ${revision}: it is too old, or of a history that was lost`;
  throw expiredStart(description, oldest ?? head);
}

/** Returns the error for a place in the state of an org that is in a type that the state does not have on this server. */
export async function unknownPlace(
  { database }: Pick<ChangesDependencies, "database">,
  orgId: string,
  revision: string,
): Promise<ServiceError> {
  const { oldest, head } = await findStart(database, orgId, revision);
  return expiredStart("the stream ended in resources of a type that this server does not send", oldest ?? head);
}

function expiredStart(description: string, oldest: string): ServiceError {
  return new ServiceError(
    "REVISION_EXPIRED",
    `${description}; begin with initial_state, read the resources again, or begin with ${oldest}, the oldest`,
    { metadata: { oldest_revision: oldest } },
  );
}
