import { randomUUID } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import type { TestWebhookRequest, WebhookDelivery } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import type { Database } from "../../database/database.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import { createSlots } from "../../identity/outgoing/slots.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { headersOf, testContent } from "../deliveries/request.ts";
import { post } from "../deliveries/send.ts";
import { toDelivery } from "./list-deliveries.ts";
import { liveKeys } from "./secret.ts";
import { webhookPath } from "./message.ts";
import { type ServedWebhooks, lookUpWebhook } from "./served.ts";

/** How many tests run at once: of the webhooks of an org, and of all. */
const slots = { perKey: 2, total: 32 };

const busy = (): ServiceError =>
  new ServiceError("RATE_LIMITED", "too many webhooks are being tested; try again in some seconds", {
    retryAfterMs: 5_000,
  });

interface TestDependencies {
  readonly database: Pick<Database, "reads">;
  readonly sealer: Pick<Sealer, "open">;
  readonly sendToWebhook: SendGuarded;
}

/** Creates the method that sends a request without a Change, and returns what came of it. */
export function createTestWebhook(served: ServedWebhooks, { database, sealer, sendToWebhook }: TestDependencies) {
  const withSlot = createSlots({ ...slots, full: busy });
  return async (_request: TestWebhookRequest, context: HandlerContext): Promise<WebhookDelivery> => {
    const found = await lookUpWebhook(served, context);
    const stored = await database.reads
      .selectFrom("webhooks")
      .select(["id", "customer_id", "org_id", "url", "format"])
      .select(["sealed_secret", "sealed_previous_secret", "previous_secret_expire_time"])
      .where("org_id", "=", found.org_id)
      .where("id", "=", found.id)
      .executeTakeFirst();
    if (stored === undefined) throw notFound("webhook", webhookPath(found));
    const time = new Date(callerOf(context).time);
    const log = { customer_id: stored.customer_id, id: stored.org_id };
    const content = testContent(stored.format, log, `test-${randomUUID()}`, time);
    const headers = headersOf(content, liveKeys(sealer, stored, time), time);
    const { outcome, status, answer, error, durationMs } = await withSlot(stored.org_id, () =>
      post(sendToWebhook, stored.url, headers, content.body, context.signal),
    );
    return toDelivery({
      message_id: content.id,
      state: outcome === "accepted" ? "DELIVERED" : "FAILED",
      revision: "",
      position: 0,
      change_count: 0,
      attempts: 1,
      attempt_time: time,
      next_attempt_time: null,
      customer_id: stored.customer_id,
      org_id: stored.org_id,
      status_code: status,
      answer,
      error,
      duration_ms: durationMs,
    });
  };
}
