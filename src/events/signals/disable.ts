import { serviceAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { EventStreams } from "../../database/signal-tables.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { changeEventStream } from "../event-streams/set-state.ts";
import { selectEventStreams } from "../event-streams/store.ts";
import type { SignalCounts } from "./counts.ts";
import type { StoredStream } from "./store.ts";

/** Disables a stream, unless it was changed since it was read. */
export type DisableStream = (
  stream: StoredStream,
  reason: NonNullable<EventStreams["disabled_reason"]>,
) => Promise<void>;

const author = serviceAuthor("tenantry/signals");

export function createDisableStream(
  { database }: Pick<ResourceDependencies, "database">,
  counts: SignalCounts,
): DisableStream {
  return (stream, reason) =>
    inTransaction(database, (db) => {
      const locks = { org: { by: "id", value: stream.org_id }, state: "any" } as const;
      return writeInOrg(db, locks, author, async (transaction) => {
        const row = await selectEventStreams(db)
          .where(isInOrgOf("event_streams", transaction.org))
          .where("event_streams.id", "=", stream.id)
          .where("event_streams.changed_revision", "=", stream.changed_revision)
          .executeTakeFirst();
        if (row === undefined) return;
        await changeEventStream(transaction, row, { state: "DISABLED", disabled_reason: reason });
        counts.outcomes.disabled++;
      });
    });
}
