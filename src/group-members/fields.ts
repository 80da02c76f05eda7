// What lists can be filtered and ordered by. Names are those of the member or the nested group.
import { deletableState, etagText, pathText } from "../filters/common-fields.ts";
import { type FilterFields, enumerated, scalar, text } from "../filters/filter-fields.ts";

const inGroup = [
  { collection: "orgs", table: "orgs", keepsDeleted: true },
  { collection: "groups", table: "groups" },
];

export const membershipFields: FilterFields = {
  path: pathText([...inGroup, { collection: "members", table: "members", keepsDeleted: true }]),
  member_path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "members", table: "members", keepsDeleted: true },
  ]),
  id: scalar("uuid", "group_members.member_id", { orderable: true }),
  name: text("members.name", { searched: true }),
  display_name: text("members.display_name", { searched: true }),
  type: enumerated("members.type", ["USER", "APPLICATION"]),
  state: deletableState("members", ["INVITED", "ACTIVE", "SUSPENDED"]),
  etag: etagText("group_members"),
  expire_time: scalar("timestamp", "group_members.expire_time", { orderable: true, nullable: true }),
  create_time: scalar("timestamp", "group_members.create_time", { orderable: true }),
  update_time: scalar("timestamp", "group_members.update_time", { orderable: true }),
};

export const subgroupFields: FilterFields = {
  path: pathText([...inGroup, { collection: "subgroups", table: "children" }]),
  group_path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "groups", table: "children" },
  ]),
  id: scalar("uuid", "subgroups.subgroup_id", { orderable: true }),
  name: text("children.name", { searched: true }),
  display_name: text("children.display_name", { searched: true }),
  description: text("subgroups.description", { searched: true }),
  etag: etagText("subgroups"),
  create_time: scalar("timestamp", "subgroups.create_time", { orderable: true }),
  update_time: scalar("timestamp", "subgroups.update_time", { orderable: true }),
};
