// What lists can be filtered and ordered by.
import { deletableState, deletionFilterFields, namedFilterFields, pathText } from "../filters/common-fields.ts";
import { type FilterFields, enumerated, scalar } from "../filters/filter-fields.ts";

export const memberFields: FilterFields = {
  ...namedFilterFields("members"),
  ...deletionFilterFields("members"),
  path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "members", table: "members", keepsDeleted: true },
  ]),
  type: enumerated("members.type", ["USER", "APPLICATION"]),
  state: deletableState("members", ["INVITED", "ACTIVE", "SUSPENDED"]),
  invitation_expire_time: scalar("timestamp", "members.invitation_expire_time"),
};
