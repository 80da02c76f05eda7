// What a webhook has sent: the list that its owner reads.
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { type Selectable, type SqlBool, sql } from "kysely";
import {
  type ListWebhookDeliveriesRequest,
  type ListWebhookDeliveriesResponse,
  ListWebhookDeliveriesResponseSchema,
  type WebhookDelivery,
  WebhookDeliverySchema,
  WebhookDelivery_State,
} from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { callerOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { type LogDays, isHolding } from "../../database/held-log.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { WebhookDeliveries } from "../../database/webhook-tables.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { listPage } from "../../standard-methods/read/list-page.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { ServedWebhooks } from "./set-state.ts";

type DeliveryRow = Selectable<WebhookDeliveries>;

/** How long deliveries are shown, and how many of each webhook are kept. */
export const keptDays = 30;
export const keptDeliveries = 1_000;

const dayMs = 86_400_000;

/** Returns when the log is removed that a webhook needs; null if it is not kept for the webhook. */
function holdEndOf(cursorTime: Date, nowMs: number, { kept, held }: LogDays): Date | null {
  const keptUntil = cursorTime.getTime() + kept * dayMs;
  return keptUntil > nowMs ? null : new Date(keptUntil + held * dayMs);
}

/** @param logDays how long the log is kept. */
export function createListDeliveries({ reader, dependencies }: ServedWebhooks, logDays: LogDays) {
  const { database, pageTokens, listQueue } = dependencies;
  return async (
    request: ListWebhookDeliveriesRequest,
    context: HandlerContext,
  ): Promise<ListWebhookDeliveriesResponse> => {
    const path = targetOf(context, patterns.Webhook);
    const caller = callerOf(context);
    const webhook = await reader.lookup(path, visibleOf(context));
    if (webhook === undefined) throw notFound("webhook", formatReferences(patterns.Webhook, path));
    const state = await database.reads
      .selectFrom("webhooks")
      .innerJoin("orgs", (join) =>
        join.onRef("orgs.customer_id", "=", "webhooks.customer_id").onRef("orgs.id", "=", "webhooks.org_id"),
      )
      .select(["webhooks.customer_id", "cursor_revision", "cursor_time", isHolding.as("is_holding")])
      .where("webhooks.org_id", "=", webhook.org_id)
      .where("webhooks.id", "=", webhook.id)
      .executeTakeFirst();
    if (state === undefined) throw notFound("webhook", formatReferences(patterns.Webhook, path));
    const org = { customer_id: state.customer_id, id: webhook.org_id };
    const since = new Date(caller.time - keptDays * dayMs);
    const read = (after: Cursor | undefined, limit: number): Promise<DeliveryRow[]> =>
      database.reads
        .selectFrom("webhook_deliveries")
        .selectAll()
        .where(isInOrgOf("webhook_deliveries", org))
        .where("webhook_id", "=", webhook.id)
        .where("attempt_time", ">", since)
        .where(isBefore(after))
        .orderBy("revision", "desc")
        .orderBy("position", "desc")
        .limit(limit)
        .execute();
    const call = { orgId: caller.orgId, target: undefined, signal: () => context.signal };
    const binding = ["WebhookDelivery", webhook.id];
    const cursorOf = ({ revision, position }: DeliveryRow): Cursor => [revision, String(position)];
    const { rows, nextPageToken } = await listQueue.run(call, () =>
      listPage(pageTokens, request, binding, read, cursorOf),
    );
    const deliveries = rows.map(toDelivery);
    const { cursor_revision: deliveredRevision } = state;
    const holdEndTime = toTimestamp(state.is_holding ? holdEndOf(state.cursor_time, caller.time, logDays) : null);
    return create(ListWebhookDeliveriesResponseSchema, { deliveries, nextPageToken, deliveredRevision, holdEndTime });
  };
}

const isBefore = (after: Cursor | undefined) =>
  after === undefined ? sql<SqlBool>`true` : sql<SqlBool>`(revision, position) < (${after[0]}::uuid, ${after[1]}::int)`;

export function toDelivery(row: Omit<DeliveryRow, "customer_id" | "org_id" | "webhook_id">): WebhookDelivery {
  return create(WebhookDeliverySchema, {
    id: row.message_id,
    state: WebhookDelivery_State[row.state],
    revision: row.revision,
    position: row.position,
    changeCount: row.change_count,
    attempts: row.attempts,
    attemptTime: toTimestamp(row.attempt_time),
    nextAttemptTime: toTimestamp(row.next_attempt_time),
    statusCode: row.status_code,
    answer: row.answer,
    error: row.error,
    duration: durationFromMs(row.duration_ms),
  });
}
