import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Updateable } from "kysely";
import type { EventStream, EventStreamSchema } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { eventStreamDefinition } from "./definition.ts";
import { toEventStream } from "./message.ts";
import { requireMayStream, tryAtOnce } from "./rules.ts";
import type { EventStreamRow } from "./store.ts";

export type ServedEventStreams = ServedResource<"event_streams", EventStreamRow, typeof EventStreamSchema>;

type StreamChange = Updateable<Schema["event_streams"]>;

/** Creates a handler that changes an event stream and returns it. */
export function createChangeEventStream(
  served: ServedEventStreams,
  method: DescMethod,
  change: (transaction: OrgTransaction) => Promise<StreamChange>,
) {
  const { reader, dependencies } = served;
  return (request: Message & { readonly etag: string }, context: HandlerContext): Promise<EventStream> => {
    const path = targetOf(context, patterns.EventStream);
    const write = readWriteRequest(method, request, context);
    return runWrite(dependencies, write, (call) =>
      runOpen(call, { org: path[0] }, async (transaction) => {
        const found = await reader.find(transaction.db, path);
        const row = await requireFound(served, transaction, found, path, request.etag);
        return toEventStream(await changeEventStream(transaction, row, await change(transaction)));
      }),
    );
  };
}

/** Changes an event stream, and records that. */
export async function changeEventStream(
  transaction: OrgTransaction,
  row: EventStreamRow,
  columns: StreamChange,
): Promise<EventStreamRow> {
  const { db, org, revision, time } = transaction;
  const change = { fields: toEventStream(row), columns };
  const after = { ...row, ...(await updateRow({ db, org, revision, time }, eventStreamDefinition, row, change)) };
  recordChange(transaction, eventStreamDefinition, row, after);
  return after;
}

export function pause(): Promise<StreamChange> {
  return Promise.resolve({ state: "PAUSED", disabled_reason: null });
}

export async function resume(
  { dependencies: { authorHolds } }: ServedEventStreams,
  transaction: OrgTransaction,
): Promise<StreamChange> {
  const member = await requireMayStream(transaction, authorHolds);
  // What was written while it did not deliver, nobody has noted.
  const noted = { noted_time: transaction.time };
  return { state: "ACTIVE", disabled_reason: null, ...member, ...tryAtOnce, ...noted };
}
