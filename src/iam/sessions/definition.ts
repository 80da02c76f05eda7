import { SessionSchema, SessionsService } from "../../../gen/iam/v1alpha/session_pb.ts";
import { etagText } from "../../filters/common-fields.ts";
import { scalar, text } from "../../filters/filter-fields.ts";
import { defineResource, placeBelow } from "../../standard-methods/definition/definition.ts";
import { memberDefinition } from "../members/definition.ts";
import { sessionPath, toSession } from "./message.ts";
import { selectSessions, sessionColumns } from "./store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

export const sessionDefinition = defineResource({
  type: "Session",
  service: SessionsService,
  schema: SessionSchema,
  label: { one: "session", many: "sessions" },
  places: [placeBelow("Session", memberDefinition, "member_id")],
  storage: {
    table: "sessions",
    key: ["org_id", "member_id", "id"],
    id: "id",
    columns: sessionColumns,
    unread: ["refresh_count", "refresh_origin", "redirect_uri"],
    select: selectSessions,
    called: { alias: "sessions", keepsDeleted: false, isUnnamed: true },
    references: [{ column: "member_id", to: "Member", onDelete: "cascade" }],
    // A member has few sessions: starting one ends the oldest of too many of its key or client.
    countedBy: undefined,
    labels: "none",
    nameConstraints: [],
  },
  toMessage: toSession,
  pathOf: sessionPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      member_name: byId(row.member_id),
      member_delete_time: null,
      client_display_name: null,
    }),
    unknownFields: ["clientDisplayName"],
  },
  fields: {
    id: scalar("uuid", "sessions.id", { orderable: true }),
    client_id: text("sessions.client_id"),
    user_agent: text("sessions.user_agent"),
    etag: etagText("sessions"),
    create_time: scalar("timestamp", "sessions.create_time", { orderable: true }),
    update_time: scalar("timestamp", "sessions.update_time"),
    refresh_time: scalar("timestamp", "sessions.refresh_time"),
    expire_time: scalar("timestamp", "sessions.expire_time"),
  },
  lifecycle: undefined,
  limit: undefined,
  responses: { neverRevalidated: "refreshes are written without a revision" },
  access: { namedIn: "unnamed", heldBy: { "members-admin": ["*"], "api-keys-admin": ["*"] }, notByAdmin: [] },
});
