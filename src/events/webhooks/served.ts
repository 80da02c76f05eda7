import type { HandlerContext } from "@connectrpc/connect";
import type { WebhookSchema } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { patternOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { required } from "../../errors/required.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { isSamePattern } from "../../paths/patterns.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import type { IssuedWebhookRow } from "./message.ts";

/** Webhooks in one of their places. */
export type PlacedWebhooks = ServedResource<"webhooks", IssuedWebhookRow, typeof WebhookSchema>;

/** Webhooks in each of their places. */
export type ServedWebhooks = readonly PlacedWebhooks[];

/** Returns the place of the webhook that a call is about, and its path. */
export function placeOfCall(
  served: ServedWebhooks,
  context: HandlerContext,
): { readonly placed: PlacedWebhooks; readonly path: readonly Reference[] } {
  const pattern = patternOf(context);
  const placed = required(served.find(({ place }) => isSamePattern(place.pattern, pattern)));
  return { placed, path: targetOf(context, pattern) };
}

/** Returns the webhook that a call reads. @throws ServiceError RESOURCE_NOT_FOUND */
export async function lookUpWebhook(served: ServedWebhooks, context: HandlerContext): Promise<IssuedWebhookRow> {
  const { placed, path } = placeOfCall(served, context);
  const found = await placed.reader.lookup(path, visibleOf(context));
  if (found === undefined) throw notFound("webhook", formatReferences(placed.place.pattern, path));
  return found;
}
