// What lists can be filtered and ordered by.
import { deletableState, deletionFilterFields, namedFilterFields, pathText } from "../filters/common-fields.ts";
import type { FilterFields } from "../filters/filter-fields.ts";

export const orgFields: FilterFields = {
  ...namedFilterFields("orgs"),
  ...deletionFilterFields("orgs"),
  path: pathText([{ collection: "orgs", table: "orgs", keepsDeleted: true }]),
  customer_path: pathText([{ collection: "customers", table: "customers", keepsDeleted: true }]),
  state: deletableState("orgs", ["ACTIVE", "SUSPENDED"]),
};
