import { GroupMemberSchema, GroupMembersService } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { deletableState, etagText } from "../../filters/common-fields.ts";
import { enumerated, scalar, text } from "../../filters/filter-fields.ts";
import { pathInOrg } from "../../filters/reference-path.ts";
import { groupDefinition } from "../groups/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { membershipPath, toGroupMember } from "./message.ts";
import { membershipColumns, selectMemberships, selectUnexpiredMemberships } from "./membership-store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

/** The membership of a member in a group. Its name is the member's. */
export const membershipDefinition = defineResource({
  type: "GroupMember",
  service: GroupMembersService,
  schema: GroupMemberSchema,
  label: { one: "membership", many: "memberships" },
  places: [placeBelow("GroupMember", groupDefinition, "group_id")],
  storage: {
    table: "group_members",
    key: ["org_id", "group_id", "member_id"],
    id: "member_id",
    columns: membershipColumns,
    unread: ["inviter_org_id", "inviter_id"],
    select: selectMemberships,
    selectWithHidden: selectUnexpiredMemberships,
    called: levelOf("members", true),
    references: [
      { column: "group_id", to: "Group", onDelete: "cascade" },
      { column: "member_id", to: "Member", onDelete: "cascade" },
    ],
    countedBy: "group_id",
    labels: "none",
    nameConstraints: [],
    expireField: "group_member.expire_time",
  },
  toMessage: toGroupMember,
  pathOf: membershipPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      group_name: byId(row.group_id),
      member_name: byId(row.member_id),
      display_name: "",
      type: "USER" as const,
      state: "ACTIVE" as const,
      member_delete_time: null,
    }),
    unknownFields: ["name", "displayName", "type", "state"],
  },
  fields: {
    member_path: pathInOrg({
      table: "members",
      keepsDeleted: true,
      org: "group_members.org_id",
      id: "group_members.member_id",
    }),
    id: scalar("uuid", "group_members.member_id", { orderable: true }),
    name: text("members.name", { searched: true }),
    display_name: text("members.display_name", { searched: true }),
    type: enumerated("members.type", ["USER", "APPLICATION"]),
    state: deletableState("members", ["INVITED", "ACTIVE", "SUSPENDED"]),
    etag: etagText("group_members"),
    expire_time: scalar("timestamp", "group_members.expire_time", { orderable: true, nullable: true }),
    create_time: scalar("timestamp", "group_members.create_time", { orderable: true }),
    update_time: scalar("timestamp", "group_members.update_time", { orderable: true }),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_MEMBERS_PER_GROUP",
    default: 1_000_000,
    max: 100_000_000,
    help: "How many memberships a group may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "members", heldBy: { editor: ["*"], "groups-admin": ["*"] }, notByAdmin: [] },
});
