import { WebhookSchema, WebhooksService } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf } from "../../standard-methods/definition/definition.ts";
import { type IssuedWebhookRow, toWebhook, webhookPath } from "./message.ts";
import { webhookPlaces } from "./places.ts";
import { selectWebhooks, unreadWebhookColumns, webhookColumns } from "./store.ts";

export const webhookDefinition = defineResource<"webhooks", IssuedWebhookRow, typeof WebhookSchema>({
  type: "Webhook",
  service: WebhooksService,
  schema: WebhookSchema,
  label: { one: "webhook", many: "webhooks" },
  places: [webhookPlaces.org, webhookPlaces.customer],
  storage: {
    table: "webhooks",
    key: ["org_id", "id"],
    id: "id",
    columns: webhookColumns,
    unread: unreadWebhookColumns,
    select: selectWebhooks,
    called: levelOf("webhooks", false),
    references: [
      { column: "org_id", to: "Org", customer: "org_customer_id", onDelete: "cascade" },
      { column: "parent_customer_id", to: "Customer", onDelete: "cascade" },
    ],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["webhooks_name_key"],
  },
  toMessage: toWebhook,
  pathOf: webhookPath,
  logged: { joinedById: (row) => ({ ...orgById(row), customer_name: null, customer_delete_time: null }) },
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
    help: "How many webhooks an org may have, and a customer itself.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
