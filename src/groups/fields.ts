// What lists can be filtered and ordered by.
import { namedFilterFields, pathText } from "../filters/common-fields.ts";
import type { FilterFields } from "../filters/filter-fields.ts";

export const groupFields: FilterFields = {
  ...namedFilterFields("groups"),
  path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "groups", table: "groups" },
  ]),
};
