import type { ServiceImpl } from "@connectrpc/connect";
import { WebhooksService } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createPlacedHandlers } from "../../standard-methods/standard-service.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import { webhookDefinition } from "./definition.ts";
import { webhookPlaces } from "./places.ts";
import { createListDeliveries } from "./list-deliveries.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { type WebhookDependencies, createWebhookRules } from "./rules.ts";
import { replay } from "./replay.ts";
import { createChangeWebhook, pause, resume } from "./set-state.ts";
import type { ServedWebhooks } from "./served.ts";
import { createTestWebhook } from "./test-webhook.ts";

export function createWebhooksService(
  dependencies: ResourceDependencies & WebhookDependencies & { readonly sendToWebhook: SendGuarded },
): ServiceImpl<typeof WebhooksService> {
  const definition = webhookDefinition;
  const placed = (["org", "customer"] as const).map((of) => ({
    place: webhookPlaces[of],
    rules: createWebhookRules(dependencies, of),
  }));
  const served: ServedWebhooks = placed.map((each) => {
    const reader = dependencies.readers.readerOf(definition, each.place);
    return { definition, ...each, reader, dependencies };
  });
  const { sealer, authorHolds } = dependencies;
  const { method } = WebhooksService;
  return completeService(WebhooksService, {
    ...createPlacedHandlers(WebhooksService, dependencies, definition, placed),
    pauseWebhook: createChangeWebhook(served, method.pauseWebhook, pause),
    resumeWebhook: createChangeWebhook(served, method.resumeWebhook, (transaction, row) =>
      resume(authorHolds, transaction, row),
    ),
    replayWebhook: createChangeWebhook(served, method.replayWebhook, replay),
    rotateWebhook: createChangeWebhook(served, method.rotateWebhook, (...args) => rotateSecret(sealer, ...args)),
    testWebhook: createTestWebhook(served, dependencies),
    listWebhookDeliveries: createListDeliveries(served, dependencies, dependencies.logDays),
  });
}
