// What a webhook has sent: the list that its owner reads.
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { type Kysely, type RawBuilder, type SelectQueryBuilder, type Selectable, type SqlBool, sql } from "kysely";
import {
  type ListWebhookDeliveriesRequest,
  type ListWebhookDeliveriesResponse,
  ListWebhookDeliveriesResponseSchema,
  type WebhookDelivery,
  WebhookDeliverySchema,
  WebhookDelivery_State,
} from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import { type LogDays, isHolding, readHeldSince } from "../../database/held-log.ts";
import { isInOrgOf, isLogOfCustomer } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { WebhookDeliveries } from "../../database/webhook-tables.ts";
import { notFound } from "../../errors/service-error.ts";
import { byId, formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { listPage } from "../../standard-methods/read/list-page.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { readCursorRevision } from "./logs.ts";
import { webhookPath } from "./message.ts";
import { requireLogOfCustomer, requireNoOrgPath } from "./org-of-log.ts";
import { type ServedWebhooks, lookUpWebhook } from "./served.ts";
import type { WebhookRow } from "./store.ts";

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
export function createListDeliveries(
  served: ServedWebhooks,
  { database, pageTokens, listQueue }: Pick<ResourceDependencies, "database" | "pageTokens" | "listQueue">,
  logDays: LogDays,
) {
  return async (
    request: ListWebhookDeliveriesRequest,
    context: HandlerContext,
  ): Promise<ListWebhookDeliveriesResponse> => {
    const caller = callerOf(context);
    const webhook = await lookUpWebhook(served, context);
    const { orgPath } = request;
    const { parent_customer_id: customerId } = webhook;
    if (customerId === null) requireNoOrgPath(orgPath);
    const listed = await (customerId === null
      ? readListedOfOrg(database.reads, webhook)
      : readListedOfCustomer(database.reads, webhook, customerId, orgPath));
    if (listed === undefined) throw notFound("webhook", webhookPath(webhook));
    const since = new Date(caller.time - keptDays * dayMs);
    const read = (after: Cursor | undefined, limit: number): Promise<DeliveryRow[]> =>
      listed.select
        .where("webhook_id", "=", webhook.id)
        .where("attempt_time", ">", since)
        .where(listed.isBefore(after))
        .limit(limit)
        .execute();
    const call = { orgId: caller.orgId, target: undefined, signal: () => context.signal };
    const binding = ["WebhookDelivery", webhook.id, ...(customerId === null ? [] : [orgPath])];
    const { rows, nextPageToken } = await listQueue.run(call, () =>
      listPage(pageTokens, request, binding, read, listed.cursorOf),
    );
    const deliveries = rows.map(toDelivery);
    const { deliveredRevision, heldSince } = listed;
    const holdEndTime = toTimestamp(heldSince && holdEndOf(heldSince, caller.time, logDays));
    return create(ListWebhookDeliveriesResponseSchema, { deliveries, nextPageToken, deliveredRevision, holdEndTime });
  };
}

/** What is listed, and how far the webhook has delivered. */
interface Listed {
  readonly select: SelectQueryBuilder<Schema, "webhook_deliveries", DeliveryRow>;
  readonly isBefore: (after: Cursor | undefined) => RawBuilder<SqlBool>;
  readonly cursorOf: (row: DeliveryRow) => Cursor;
  readonly deliveredRevision: string;
  /** Up to when it has delivered what the log is kept for; null if it holds none. */
  readonly heldSince: Date | null;
}

async function readListedOfOrg(db: Kysely<Schema>, { org_id: orgId, id }: WebhookRow): Promise<Listed | undefined> {
  const state = await db
    .selectFrom("webhooks")
    .innerJoin("orgs", (join) =>
      join.onRef("orgs.customer_id", "=", "webhooks.customer_id").onRef("orgs.id", "=", "webhooks.org_id"),
    )
    .select(["webhooks.customer_id", "cursor_revision", "cursor_time", isHolding.as("is_holding")])
    .where("webhooks.org_id", "=", orgId)
    .where("webhooks.id", "=", id)
    .executeTakeFirst();
  if (state === undefined) return undefined;
  return {
    select: db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where(isInOrgOf("webhook_deliveries", { customer_id: state.customer_id, id: orgId }))
      .orderBy("revision", "desc")
      .orderBy("position", "desc"),
    isBefore: (after) =>
      after === undefined
        ? sql<SqlBool>`true`
        : sql<SqlBool>`(revision, position) < (${after[0]}::uuid, ${after[1]}::int)`,
    cursorOf: ({ revision, position }) => [revision, String(position)],
    deliveredRevision: state.cursor_revision,
    heldSince: state.is_holding ? state.cursor_time : null,
  };
}

/** The revisions of several logs have no order, so what was tried last is first. @throws ServiceError FIELD_INVALID, PATH_INVALID */
async function readListedOfCustomer(
  db: Kysely<Schema>,
  { id }: WebhookRow,
  customerId: string,
  orgPath: string,
): Promise<Listed> {
  const logId = orgPath === "" ? undefined : await requireLogOfCustomer(db, customerId, orgPath);
  const select = db
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("customer_id", "=", customerId)
    .orderBy("attempt_time", "desc")
    .orderBy("revision", "desc")
    .orderBy("position", "desc");
  return {
    select: logId === undefined ? select : select.where("org_id", "=", logId),
    isBefore: (after) =>
      after === undefined
        ? sql<SqlBool>`true`
        : sql<SqlBool>`(attempt_time, revision, position) < (${after[0]}::timestamptz, ${after[1]}::uuid, ${after[2]}::int)`,
    cursorOf: ({ attempt_time: time, revision, position }) => [time.toISOString(), revision, String(position)],
    deliveredRevision: (logId && (await readCursorRevision(db, customerId, id, logId))) ?? "",
    heldSince: await readHeldSince(db, customerId, id),
  };
}

export function toDelivery(row: Omit<DeliveryRow, "webhook_id">): WebhookDelivery {
  const { customer_id: customerId, org_id: orgId } = row;
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
    orgPath: isLogOfCustomer({ customer_id: customerId, id: orgId }) ? "" : formatPath(patterns.Org, byId(orgId)),
  });
}
