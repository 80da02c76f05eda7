// What lists can be filtered and ordered by.
import { sql } from "kysely";
import { deletionFilterFields, namedFilterFields, pathText } from "../filters/common-fields.ts";
import { type FilterFields, enumerated } from "../filters/filter-fields.ts";

export const customerFields: FilterFields = {
  ...namedFilterFields("customers"),
  ...deletionFilterFields("customers"),
  path: pathText([{ collection: "customers", table: "customers", keepsDeleted: true }]),
  state: enumerated(sql`case when customers.delete_time is null then 'ACTIVE' else 'DELETED' end`, [
    "ACTIVE",
    "DELETED",
  ]),
};
