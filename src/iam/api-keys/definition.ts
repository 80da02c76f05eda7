import { sql } from "kysely";
import { ApiKeySchema, ApiKeysService } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import { scalar, text } from "../../filters/filter-fields.ts";
import { memberDefinition } from "../members/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { type IssuedRow, apiKeyPath, toApiKey } from "./message.ts";
import { apiKeyColumns, selectApiKeys } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

export const apiKeyDefinition = defineResource<"api_keys", IssuedRow, typeof ApiKeySchema>({
  type: "ApiKey",
  service: ApiKeysService,
  schema: ApiKeySchema,
  label: { one: "API key", many: "API keys" },
  places: [placeBelow("ApiKey", memberDefinition, "member_id")],
  storage: {
    table: "api_keys",
    key: ["org_id", "member_id", "id"],
    id: "id",
    columns: apiKeyColumns,
    unread: ["hash"],
    select: selectApiKeys,
    called: levelOf("api_keys", false),
    references: [{ column: "member_id", to: "Member", onDelete: "cascade" }],
    countedBy: "member_id",
    labels: "unindexed",
    nameConstraints: ["api_keys_name_key"],
  },
  toMessage: toApiKey,
  pathOf: apiKeyPath,
  logged: {
    joinedById: (row) => ({ ...orgById(row), member_name: byId(row.member_id), member_delete_time: null }),
  },
  withoutSecrets: ({ secret: _secret, ...apiKey }) => apiKey,
  fields: {
    prefix: text("api_keys.prefix"),
    expire_time: scalar("timestamp", "api_keys.expire_time", { orderable: true, nullable: true }),
    last_use_time: scalar("timestamp", "api_keys.last_use_time", { orderable: true, nullable: true }),
    limited: scalar("boolean", sql`(api_keys.grants_until is not null)`),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_API_KEYS_PER_MEMBER",
    default: 100,
    max: 100_000,
    help: "How many API keys a member may have.",
  },
  responses: { neverRevalidated: "the time of the last use is written without a revision" },
  access: { namedIn: "unnamed", heldBy: { "api-keys-admin": ["*"] }, notByAdmin: [] },
});
