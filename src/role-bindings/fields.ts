// What lists can be filtered and ordered by.
import { sql } from "kysely";
import { namedFilterFields, pathText } from "../filters/common-fields.ts";
import { type FilterField, type FilterFields, scalar, text } from "../filters/filter-fields.ts";
import type { Scope } from "./scopes.ts";

const orgs = { collection: "orgs", table: "orgs", keepsDeleted: true };

const customRolePath = pathText([orgs, { collection: "roles", table: "roles" }]);
const memberPath = pathText([orgs, { collection: "members", table: "members", keepsDeleted: true }]);
const groupPath = pathText([orgs, { collection: "groups", table: "groups" }]);

const rolePath: FilterField = {
  kind: "text",
  value: sql`coalesce('/roles/' || role_bindings.predefined_role, ${customRolePath.value})`,
  isSearched: false,
};

/** That of the one that is there. */
const subjectPath: FilterField = {
  kind: "text",
  value: sql`coalesce(${memberPath.value}, ${groupPath.value})`,
  isSearched: false,
};

export function roleBindingFields({ pattern, parentTables }: Scope): FilterFields {
  const levels = parentTables.map((table, level) => ({ collection: pattern[level] ?? "", table, keepsDeleted: true }));
  return {
    ...namedFilterFields("role_bindings"),
    path: pathText([...levels, { collection: "roleBindings", table: "role_bindings" }]),
    role_path: rolePath,
    subject_path: subjectPath,
    start_time: scalar("timestamp", "role_bindings.start_time"),
    expire_time: scalar("timestamp", "role_bindings.expire_time"),
    condition: text("role_bindings.condition"),
  };
}
