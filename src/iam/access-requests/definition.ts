import { type SqlBool, sql } from "kysely";
import { AccessRequestSchema, AccessRequestsService } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { statementTime } from "../../database/clock.ts";
import { etagText, pathText } from "../../filters/common-fields.ts";
import { type FilterField, enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { pathInOrg } from "../../filters/reference-path.ts";
import { byId, orgById } from "../../paths/format-path.ts";
import { defineResource, placeBelow } from "../../standard-methods/definition/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { accessRequestPath, toAccessRequest } from "./message.ts";
import { accessRequestColumns, currentState, selectAccessRequests } from "./store.ts";

const org = "access_requests.org_id";
const orgs = { collection: "orgs", alias: "orgs", keepsDeleted: true };
const orgPath = pathText([orgs]);
const projectPath = pathText([orgs, { collection: "projects", alias: "projects", keepsDeleted: true }]);
const customRolePath = pathInOrg({ table: "roles", keepsDeleted: false, org, id: "access_requests.role_id" });

const resourcePath: FilterField = {
  kind: "text",
  value: sql`coalesce(${projectPath.value}, ${orgPath.value})`,
  isSearched: false,
};

const rolePath: FilterField = {
  kind: "text",
  value: sql`coalesce('/roles/' || access_requests.predefined_role, ${customRolePath.value})`,
  isSearched: false,
  equals(path) {
    const [, name] = /^\/roles\/([^/]+)$/.exec(path) ?? [];
    return name === undefined ? customRolePath.equals(path) : sql<SqlBool>`(access_requests.predefined_role = ${name})`;
  },
};

const ofOrg = pathText([orgs, { collection: "members", alias: "members", keepsDeleted: true }]);
/** With the name that it had when it asked. */
const ofPlatform = sql`('/orgs/' || supporter_orgs.name || '/members/' || access_requests.supporter_name)`;

/** A member of the org or of the platform asks. */
const memberPath: FilterField = {
  kind: "text",
  value: sql`coalesce(${ofOrg.value}, ${ofPlatform})`,
  isSearched: false,
};

export const accessRequestDefinition = defineResource({
  type: "AccessRequest",
  service: AccessRequestsService,
  schema: AccessRequestSchema,
  label: { one: "access request", many: "access requests" },
  places: [placeBelow("AccessRequest", orgDefinition, "org_id")],
  storage: {
    table: "access_requests",
    key: ["org_id", "id"],
    id: "id",
    columns: accessRequestColumns,
    unread: [],
    select: selectAccessRequests,
    called: { alias: "access_requests", keepsDeleted: false, isUnnamed: true },
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "project_id", to: "Project", onDelete: "cascade" },
      { column: "member_id", to: "Member", onDelete: "cascade" },
    ],
    countedBy: "org_id",
    labels: "none",
    nameConstraints: [],
  },
  toMessage: toAccessRequest,
  pathOf: accessRequestPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      member_name: byId(row.member_id ?? null),
      member_delete_time: null,
      member_state: "ACTIVE" as const,
      supporter_org_name: null,
      supporter_org_delete_time: null,
      supporter_delete_time: null,
      supporter_state: "ACTIVE" as const,
      project_name: byId(row.project_id),
      project_delete_time: null,
      role_name: byId(row.role_id),
      binding_name: byId(row.binding_id),
      approver_org_name: byId(row.approver_org_id),
      approver_org_delete_time: null,
      approver_name: byId(row.approver_id),
      approver_delete_time: null,
      decider_org_name: byId(row.decider_org_id),
      decider_org_delete_time: null,
      decider_name: byId(row.decider_id),
      decider_delete_time: null,
      ender_org_name: byId(row.ender_org_id),
      ender_org_delete_time: null,
      ender_name: byId(row.ender_id),
      ender_delete_time: null,
      current_state: row.state,
      has_expired: false,
      // The entries of the org say how many it wants.
      wanted_approvals: 0,
    }),
  },
  fields: {
    etag: etagText("access_requests"),
    id: scalar("uuid", "access_requests.id", { orderable: true }),
    role_path: rolePath,
    resource_path: resourcePath,
    reason: text("access_requests.reason", { searched: true }),
    member_path: memberPath,
    state: enumerated(currentState(statementTime), [
      "PENDING",
      "APPROVED",
      "DECLINED",
      "CANCELLED",
      "EXPIRED",
      "ENDED",
    ]),
    break_glass: scalar("boolean", "access_requests.break_glass"),
    expire_time: scalar("timestamp", "access_requests.expire_time"),
    lapse_time: scalar("timestamp", "access_requests.lapse_time"),
    create_time: scalar("timestamp", "access_requests.create_time", { orderable: true }),
    update_time: scalar("timestamp", "access_requests.update_time", { orderable: true }),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_ACCESS_REQUESTS_PER_ORG",
    default: 1_000_000,
    max: 100_000_000,
    help: "How many access requests an org may have, those that are over included.",
  },
  responses: {
    neverRevalidated: "their states change with the time, and the paths of deciders contain names of any org",
  },
  access: {
    namedIn: "unnamed",
    otherVerbs: ["breakGlass"],
    heldBy: {
      editor: ["create"],
      "access-admin": ["get", "list", "create", "cancel", "approve", "decline", "end"],
    },
    notByAdmin: ["breakGlass"],
  },
});
