import type { HandlerContext } from "@connectrpc/connect";
import type { WebhookSchema } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { visibleOf } from "../../access/evaluation/call.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { placeOfCall } from "../../standard-methods/place-of-call.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import type { IssuedWebhookRow } from "./message.ts";

/** Webhooks in one of their places. */
type PlacedWebhooks = ServedResource<"webhooks", IssuedWebhookRow, typeof WebhookSchema>;

/** Webhooks in each of their places. */
export type ServedWebhooks = readonly PlacedWebhooks[];

/** Returns the webhook that a call reads. @throws ServiceError RESOURCE_NOT_FOUND */
export async function lookUpWebhook(served: ServedWebhooks, context: HandlerContext): Promise<IssuedWebhookRow> {
  const { placed, path } = placeOfCall(served, context);
  const found = await placed.reader.lookup(path, visibleOf(context));
  if (found === undefined) throw notFound("webhook", formatReferences(placed.place.pattern, path));
  return found;
}
