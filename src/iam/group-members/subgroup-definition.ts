import { GroupMembersService, SubgroupSchema } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { etagText } from "../../filters/common-fields.ts";
import { scalar, text } from "../../filters/filter-fields.ts";
import { pathInOrg } from "../../filters/reference-path.ts";
import { groupDefinition } from "../groups/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { subgroupPath, toSubgroup } from "./message.ts";
import { selectSubgroups, subgroupColumns } from "./subgroup-store.ts";
import { byId, orgById } from "../../paths/format-path.ts";

/** The nesting of a group in another group. Its name is that of the nested group. */
export const subgroupDefinition = defineResource({
  type: "Subgroup",
  service: GroupMembersService,
  schema: SubgroupSchema,
  label: { one: "subgroup", many: "subgroups" },
  places: [placeBelow("Subgroup", groupDefinition, "group_id")],
  storage: {
    table: "subgroups",
    key: ["org_id", "group_id", "subgroup_id"],
    id: "subgroup_id",
    columns: subgroupColumns,
    unread: [],
    select: selectSubgroups,
    called: levelOf("children", false),
    references: [
      { column: "group_id", to: "Group", onDelete: "cascade" },
      { column: "subgroup_id", to: "Group", onDelete: "cascade" },
    ],
    countedBy: "group_id",
    labels: "none",
    nameConstraints: [],
  },
  toMessage: toSubgroup,
  pathOf: subgroupPath,
  logged: {
    joinedById: (row) => ({
      ...orgById(row),
      group_name: byId(row.group_id),
      child_name: byId(row.subgroup_id),
      child_display_name: "",
    }),
    unknownFields: ["name", "displayName"],
  },
  fields: {
    group_path: pathInOrg({
      table: "groups",
      alias: "children",
      keepsDeleted: false,
      org: "subgroups.org_id",
      id: "subgroups.subgroup_id",
    }),
    id: scalar("uuid", "subgroups.subgroup_id", { orderable: true }),
    name: text("children.name", { searched: true }),
    display_name: text("children.display_name", { searched: true }),
    description: text("subgroups.description", { searched: true }),
    etag: etagText("subgroups"),
    create_time: scalar("timestamp", "subgroups.create_time", { orderable: true }),
    update_time: scalar("timestamp", "subgroups.update_time", { orderable: true }),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_SUBGROUPS_PER_GROUP",
    default: 1_000,
    max: 1_000_000,
    help: "How many groups may be nested directly in a group.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "groups", heldBy: { editor: ["*"], "groups-admin": ["*"] }, notByAdmin: [] },
});
