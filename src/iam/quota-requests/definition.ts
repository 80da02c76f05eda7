import { sql } from "kysely";
import { QuotaRequestSchema, QuotaRequestsService } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { singletonPath } from "../../paths/patterns.ts";
import { pathText } from "../../filters/common-fields.ts";
import { type FilterField, enumerated, scalar } from "../../filters/filter-fields.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { quotaRequestPath, toQuotaRequest } from "./message.ts";
import { quotaRequestColumns, selectQuotaRequests } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

const orgs = { collection: "orgs", alias: "orgs", keepsDeleted: true };
const orgPath = pathText([orgs]);
const projectPath = pathText([orgs, { collection: "projects", alias: "projects", keepsDeleted: true }]);

/** The path of a request about the org's own quota has no project. */
const quotaPath: FilterField = {
  kind: "text",
  value: sql`coalesce(${projectPath.value}, ${orgPath.value}) || ${sql.lit(singletonPath("Quota", ""))}`,
  isSearched: false,
};

const memberPath = (who: "actor" | "decider"): FilterField =>
  pathText([
    { collection: "orgs", alias: `${who}_orgs`, keepsDeleted: true },
    { collection: "members", alias: `${who}s`, keepsDeleted: true },
  ]);

export const quotaRequestDefinition = defineResource({
  type: "QuotaRequest",
  service: QuotaRequestsService,
  schema: QuotaRequestSchema,
  label: { one: "quota request", many: "quota requests" },
  places: [placeBelow("QuotaRequest", orgDefinition, "org_id")],
  storage: {
    table: "quota_requests",
    key: ["org_id", "id"],
    id: "id",
    columns: quotaRequestColumns,
    unread: [],
    select: selectQuotaRequests,
    called: levelOf("quota_requests", false),
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "project_id", to: "Project", onDelete: "cascade" },
    ],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["quota_requests_name_key"],
  },
  toMessage: toQuotaRequest,
  pathOf: quotaRequestPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      project_name: byId(row.project_id),
      project_delete_time: null,
      actor_org_name: byId(row.actor_org_id),
      actor_org_delete_time: null,
      actor_name: byId(row.actor_id),
      actor_delete_time: null,
      decider_org_name: byId(row.decider_org_id),
      decider_org_delete_time: null,
      decider_name: byId(row.decider_id),
      decider_delete_time: null,
    }),
  },
  fields: {
    quota_path: quotaPath,
    member_path: memberPath("actor"),
    state: enumerated("quota_requests.state", ["PENDING", "APPROVED", "REJECTED"]),
    decider_path: memberPath("decider"),
    decide_time: scalar("timestamp", "quota_requests.decide_time"),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_QUOTA_REQUESTS_PER_ORG",
    default: 10_000,
    max: 1_000_000,
    help: "How many quota requests an org may have, decided ones included.",
  },
  responses: { neverRevalidated: "the paths of members contain their names, and they can be in any org" },
  access: {
    namedIn: "unnamed",
    heldBy: { editor: ["create", "update", "delete"], "projects-admin": ["get", "list", "create", "update", "delete"] },
    notByAdmin: [],
  },
});
