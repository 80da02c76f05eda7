import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone } from "../batch/batch-item.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import {
  type LifecycleRow,
  type Transition,
  checkTransition,
  isOfDeleted,
  stateForbids,
} from "../definition/lifecycle.ts";
import { required } from "../../errors/required.ts";
import { makeTransitions } from "../rows/make-transitions.ts";
import { idOf } from "../rows/row-key.ts";
import type { ServedResource } from "../rules.ts";
import { followTransition } from "./follow-transition.ts";
import { mapErrors } from "./map-errors.ts";
import { locksOfTransition } from "./open-write.ts";
import { requireFound } from "./require-found.ts";
import type { WriteCall } from "./write-call.ts";
import { type Plan, writeRows } from "./write-rows.ts";

/** Changes the state of a resource (AIP-164, 165, 216). Returns its row after the transition. */
export async function changeState<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  etag: string,
  transition: Transition,
): Promise<Row> {
  const { definition, place, reader, rules } = served;
  const change = async (): Promise<Row> =>
    writeRows(served, call, {
      locks: await locksOfTransition(rules.scope, call.db, path),
      async prepare(transaction) {
        const before = await requireFound(served, transaction, await reader.find(transaction.db, path), path, etag);
        return planTransition(served, transaction, [before], transition, alone, ([after]) => {
          if (after !== undefined && after !== null) return after;
          const at = definition.pathOf(before);
          throw stateForbids(
            `the ${definition.label.one} ${at} is DELETED, and its purge_time has passed`,
            at,
            "DELETED",
          );
        });
      },
    });
  const isNamedDeleted = isOfDeleted(transition) && path.at(-1)?.by === "name";
  return isNamedDeleted
    ? change().catch(explainDeletedName(definition.label.one, formatReferences(place.pattern, path)))
    : change();
}

/** Returns what adds to RESOURCE_NOT_FOUND for a path how to find a deleted resource, which no name finds. */
function explainDeletedName(label: string, path: string): (error: unknown) => never {
  return (error) => {
    const isOfPath =
      error instanceof ServiceError && error.reason === "RESOURCE_NOT_FOUND" && error.metadata["resource"] === path;
    if (!isOfPath) throw error;
    const message = `${error.message}; a deleted ${label} is named by its id, @{id}, which a list with show_deleted=true returns`;
    throw new ServiceError("RESOURCE_NOT_FOUND", message, { metadata: error.metadata });
  };
}

/**
 * Returns the plan for a transition of rows, whose states must allow it.
 *
 * @param answer gets the rows after the transition, without rows whose purge time has passed.
 */
export function planTransition<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage, Result>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  rows: readonly Row[],
  transition: Transition,
  atItem: AtItem,
  answer: (rows: readonly (Row | null)[]) => Result,
  force = false,
): Plan<Row, Result> {
  const { definition, rules, dependencies } = served;
  return {
    rows,
    async check() {
      for (const [index, row] of rows.entries()) {
        await atItem(index, async () => {
          checkTransition(row as Row & LifecycleRow, transition, definition.label.one, definition.pathOf(row));
          await rules.beforeTransition?.(transaction, row, transition, force);
          await followTransition(dependencies, transaction, definition, row, { transition, force });
        });
      }
      return rows.map((row) => ({ step: transition, row }));
    },
    async apply() {
      const { db, org, author, revision, time } = transaction;
      const columns = rules.transitionColumns?.(transition);
      const making = { transition, retentionDays: dependencies.retentionDays, ...(columns && { columns }) };
      const target = { db, org, revision, time };
      const message = definition.toMessage(required(rows[0]));
      const made = await makeTransitions(target, definition, rows, making).catch(mapErrors(served, author, message));
      const before = new Map(rows.map((row) => [idOf(definition, row), row]));
      const changes = made.rows.map((after) => ({ before: required(before.get(idOf(definition, after))), after }));
      return { changes, counts: transition === "undelete" ? made.counts : undefined };
    },
    answer,
  };
}
