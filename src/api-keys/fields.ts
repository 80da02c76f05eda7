// What lists can be filtered and ordered by.
import { namedFilterFields, pathText } from "../filters/common-fields.ts";
import { type FilterFields, scalar, text } from "../filters/filter-fields.ts";

export const apiKeyFields: FilterFields = {
  ...namedFilterFields("api_keys"),
  path: pathText([
    { collection: "orgs", table: "orgs", keepsDeleted: true },
    { collection: "members", table: "members", keepsDeleted: true },
    { collection: "apiKeys", table: "api_keys" },
  ]),
  prefix: text("api_keys.prefix"),
  expire_time: scalar("timestamp", "api_keys.expire_time", { orderable: true, nullable: true }),
  last_use_time: scalar("timestamp", "api_keys.last_use_time", { orderable: true, nullable: true }),
};
