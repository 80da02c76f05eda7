// What lists can be filtered and ordered by.
import { deletableState, deletionFilterFields, namedFilterFields, pathText } from "../filters/common-fields.ts";
import type { FilterFields } from "../filters/filter-fields.ts";

export const projectFields: FilterFields = {
  ...namedFilterFields("projects"),
  ...deletionFilterFields("projects"),
  path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "projects", table: "projects", keepsDeleted: true },
  ]),
  state: deletableState("projects", ["ACTIVE", "SUSPENDED"]),
};
