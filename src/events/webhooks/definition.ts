import { WebhookSchema, WebhooksService } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { type IssuedWebhookRow, toWebhook, webhookPath } from "./message.ts";
import { selectWebhooks, unreadWebhookColumns, webhookColumns } from "./store.ts";

export const webhookDefinition = defineResource<"webhooks", IssuedWebhookRow, typeof WebhookSchema>({
  type: "Webhook",
  service: WebhooksService,
  schema: WebhookSchema,
  label: { one: "webhook", many: "webhooks" },
  places: [placeBelow("Webhook", orgDefinition, "org_id")],
  storage: {
    table: "webhooks",
    key: ["org_id", "id"],
    id: "id",
    columns: webhookColumns,
    unread: unreadWebhookColumns,
    select: selectWebhooks,
    called: levelOf("webhooks", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["webhooks_name_key"],
  },
  toMessage: toWebhook,
  pathOf: webhookPath,
  logged: { joinedById: orgById },
  withoutSecrets: ({ secret: _secret, ...webhook }) => webhook,
  fields: {
    url: text("webhooks.url", { searched: true }),
    format: enumerated("webhooks.format", ["STANDARD", "CLOUDEVENTS", "NDJSON_BATCH"]),
    hold_retention: scalar("boolean", "webhooks.hold_retention"),
    state: enumerated("webhooks.state", ["ACTIVE", "PAUSED", "DISABLED"]),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_WEBHOOKS_PER_ORG",
    default: 20,
    max: 1_000,
    help: "How many webhooks an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
