import { GroupSchema, GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { groupPath, toGroup } from "./message.ts";
import { groupColumns, selectGroups } from "./store.ts";
import { orgById } from "../../paths/format-path.ts";

export const groupDefinition = defineResource({
  type: "Group",
  service: GroupsService,
  schema: GroupSchema,
  label: { one: "group", many: "groups" },
  places: [placeBelow("Group", orgDefinition, "org_id")],
  storage: {
    table: "groups",
    key: ["org_id", "id"],
    id: "id",
    columns: groupColumns,
    unread: [],
    select: selectGroups,
    pagesArePlannedOnce: true,
    called: levelOf("groups", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["groups_name_key"],
  },
  toMessage: toGroup,
  pathOf: groupPath,
  logged: { joinedById: orgById },
  fields: {},
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_GROUPS_PER_ORG",
    default: 100_000,
    max: 10_000_000,
    help: "How many groups an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "groups", heldBy: { editor: ["*"], "groups-admin": ["*"] }, notByAdmin: [] },
});
