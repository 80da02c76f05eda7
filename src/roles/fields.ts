// What lists can be filtered and ordered by.
import { namedFilterFields, pathText } from "../filters/common-fields.ts";
import type { FilterFields } from "../filters/filter-fields.ts";

export const roleFields: FilterFields = {
  ...namedFilterFields("roles"),
  path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "roles", table: "roles" },
  ]),
};
