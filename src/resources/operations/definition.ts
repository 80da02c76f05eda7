import { sql } from "kysely";
import { OperationSchema, OperationsService } from "../../../gen/resources/v1alpha/operation_pb.ts";
import { etagText, pathText } from "../../filters/common-fields.ts";
import { enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { typePath } from "../../filters/reference-path.ts";
import { projectDefinition } from "../../iam/projects/definition.ts";
import { defineResource, placeBelow } from "../../standard-methods/definition/definition.ts";
import { operationPath } from "../resources/message.ts";
import { toOperation } from "./message.ts";
import { operationColumns, selectOperations } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

const projectPath = pathText([
  { collection: "orgs", alias: "orgs", keepsDeleted: true },
  { collection: "projects", alias: "projects", keepsDeleted: true },
]);
/** The path of the resource, which has its id if it is deleted or gone. */
const resourcePath = sql`(${projectPath.value} || '/resources/' ||
  case when resources.name is null or resources.delete_time is not null then '@' || operations.resource_id else resources.name end)`;

/** An operation on a resource. Its provider claims it and carries it out. */
export const operationDefinition = defineResource({
  type: "Operation",
  service: OperationsService,
  schema: OperationSchema,
  label: { one: "operation", many: "operations" },
  places: [placeBelow("Operation", projectDefinition, "project_id")],
  storage: {
    table: "operations",
    key: ["org_id", "id"],
    id: "id",
    columns: operationColumns,
    unread: ["claim_token", "attempts", "next_attempt_time"],
    select: selectOperations,
    called: { alias: "operations", keepsDeleted: false, isUnnamed: true },
    references: [
      { column: "org_id", to: "Org", onDelete: "cascade" },
      { column: "project_id", to: "Project", onDelete: "cascade" },
    ],
    countedBy: undefined,
    labels: "none",
    nameConstraints: [],
  },
  toMessage: toOperation,
  pathOf: operationPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      project_name: byId(row.project_id),
      project_delete_time: null,
      attempts: 0,
      next_attempt_time: row.create_time,
      resource_name: byId(row.resource_id),
      resource_delete_time: null,
      type_name: byId(row.type_id),
      collection: null,
      service_name: byId(row.service_id),
      actor_org_name: byId(row.actor_org_id),
      actor_org_delete_time: null,
      actor_name: byId(row.actor_id),
      actor_delete_time: null,
    }),
    unknownFields: ["attempts", "nextAttemptTime", "pendingReason"],
  },
  fields: {
    id: scalar("uuid", "operations.id", { orderable: true }),
    resource_path: { kind: "text", value: resourcePath, isSearched: false },
    type_path: typePath("operations.type_id"),
    verb: text("operations.verb"),
    state: enumerated("operations.state", ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]),
    done: scalar("boolean", sql`(operations.end_time is not null)`),
    etag: etagText("operations"),
    create_time: scalar("timestamp", "operations.create_time", { orderable: true }),
    update_time: scalar("timestamp", "operations.update_time", { orderable: true }),
    end_time: scalar("timestamp", "operations.end_time"),
  },
  lifecycle: undefined,
  limit: undefined,
  responses: { neverRevalidated: "claims are written without a revision" },
  access: {
    namedIn: "unnamed",
    heldBy: { editor: ["cancel"], provider: ["claim", "complete", "fail", "report"] },
    notByAdmin: [],
  },
});
