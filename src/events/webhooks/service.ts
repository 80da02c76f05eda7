import type { ServiceImpl } from "@connectrpc/connect";
import { WebhooksService } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import type { SendGuarded } from "../../identity/outgoing/guarded-request.ts";
import { webhookDefinition } from "./definition.ts";
import { createListDeliveries } from "./list-deliveries.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { type WebhookDependencies, createWebhookRules } from "./rules.ts";
import { type ServedWebhooks, createChangeWebhook, pause, replay, resume } from "./set-state.ts";
import { createTestWebhook } from "./test-webhook.ts";

export function createWebhooksService(
  dependencies: ResourceDependencies & WebhookDependencies & { readonly sendToWebhook: SendGuarded },
): ServiceImpl<typeof WebhooksService> {
  const definition = webhookDefinition;
  const [place] = definition.places;
  const rules = createWebhookRules(dependencies);
  const reader = dependencies.readers.readerOf(definition, place);
  const served: ServedWebhooks = { definition, place, rules, reader, dependencies };
  const { sealer } = dependencies;
  const { method } = WebhooksService;
  return completeService(WebhooksService, {
    ...createStandardHandlers(WebhooksService, dependencies, definition, rules),
    pauseWebhook: createChangeWebhook(served, method.pauseWebhook, pause),
    resumeWebhook: createChangeWebhook(served, method.resumeWebhook, (transaction) => resume(served, transaction)),
    replayWebhook: createChangeWebhook(served, method.replayWebhook, (transaction, _row, { fromRevision }) =>
      replay(transaction, fromRevision),
    ),
    rotateWebhook: createChangeWebhook(served, method.rotateWebhook, (...args) => rotateSecret(sealer, ...args)),
    testWebhook: createTestWebhook(served, dependencies),
    listWebhookDeliveries: createListDeliveries(served, dependencies.logDays),
  });
}
