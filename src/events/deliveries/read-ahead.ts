// What a webhook has to deliver next, as the member for which it delivers may see it now.
import type { Change } from "../../../gen/iam/v1alpha/change_pb.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { toSql } from "../../filters/to-sql.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { changeFields } from "../changes/fields.ts";
import type { LoggedMessage } from "../changes/logged-messages.ts";
import { toChange } from "../changes/message.ts";
import { createReadable } from "../changes/readable-entries.ts";
import { findPinned, resolvePaths } from "../changes/resolve-paths.ts";
import { type ChangeRow, selectChanges } from "../changes/store.ts";
import { holdsToDeliver } from "../webhooks/rules.ts";
import { type Position, isSame } from "./lease.ts";
import { type Claimed, findWindowEnd } from "./store.ts";

interface Dependencies extends Pick<ResourceDependencies, "database" | "registry" | "authorHolds"> {
  readonly loggedMessage: LoggedMessage;
}

/** The next entries of a log that a filter matches. */
interface Ahead {
  readonly rows: readonly ChangeRow[];
  /** Up to where the log was searched; there are no other matches before. */
  readonly end: Position;
  /** Whether these are the entries of a request that was tried before. */
  readonly isPending: boolean;
}

export interface LogOfWebhook {
  /** Returns undefined if the webhook has delivered all there is. */
  readonly next: (webhook: Claimed, after: Position, limit: number) => Promise<Ahead | undefined>;
  /**
   * Returns the function that makes the Change of an entry as the member of the webhook may see it now; undefined if that may not list
   * the changes of the org any more.
   */
  readonly readerFor: (webhook: Claimed) => Promise<((row: ChangeRow) => Promise<Change>) | undefined>;
}

export function createLogOfWebhook({ database, registry, authorHolds, loggedMessage }: Dependencies): LogOfWebhook {
  return {
    async next(webhook, after, limit) {
      // That of a customer itself has its entries under the id of that.
      const owner = { kind: "org", id: webhook.log.id } as const;
      const pending = pendingOf(webhook, after);
      const end = pending ?? (await findWindowEnd(database.reads, owner.id, cursorAt(owner.id, after)));
      if (end === undefined) return undefined;
      // Its paths have ids alone, so nothing about names is asked.
      const lookup = { database, registry, owner, holds: () => Promise.resolve(false) };
      const resolved = await resolvePaths(lookup, readFilter(webhook.filter, changeFields));
      const condition = { condition: toSql(resolved), pinned: findPinned(resolved) };
      const places = { after: cursorAt(owner.id, after), until: cursorAt(owner.id, end) };
      const selected = selectChanges({
        owner,
        ...condition,
        ...places,
        suspended: true,
        descending: false,
        limit,
        states: true,
      });
      const { rows } = await selected.execute(database.reads);
      const fitting = rows.findIndex((row) => row.is_left_out);
      const last = rows[fitting - 1];
      const isPending = pending !== undefined;
      if (last === undefined) return { rows, end, isPending };
      return { rows: rows.slice(0, fitting), end: positionOf(last), isPending };
    },

    async readerFor(webhook) {
      const holds = await holdsToDeliver(database.reads, authorHolds, webhook);
      if (holds === undefined) return undefined;
      const readable = createReadable(registry, holds);
      return async (row) => toChange(row, await readable.shown(row, { states: true, proof: false }), loggedMessage);
    },
  };
}

export const cursorAt = (orgId: string, { time, revision, position }: Position): Cursor => [
  time,
  orgId,
  revision,
  String(position),
];

/** Returns the last entry of a request that was tried before; undefined if it was not, or is not the next one any more. */
function pendingOf(webhook: Claimed, after: Position): Position | undefined {
  const { pending_time: time, pending_revision: revision, pending_position: position } = webhook;
  if (time === null || revision === null || position === null) return undefined;
  const cursor = { revision: webhook.cursor_revision, position: webhook.cursor_position };
  return isSame(after, cursor) ? { time, revision, position } : undefined;
}

export const positionOf = ({ time_text: time, revision, position }: ChangeRow): Position => ({
  time,
  revision,
  position,
});
