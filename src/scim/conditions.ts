// What filters of lists demand, as conditions of SQL. An attribute that is not here is an error.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { statementTime } from "../database/clock.ts";
import { scimFault } from "./errors.ts";
import { type Comparison, type FilterValue, parseFilter } from "./filter.ts";
import { urns } from "./schemas.ts";
import { fold } from "./values.ts";

type Condition = RawBuilder<unknown>;

const all: Condition = sql<SqlBool>`true`;
const none: Condition = sql<SqlBool>`false`;

/** @throws ServiceError FIELD_INVALID with `invalidFilter` */
export const userCondition = (filter: string): Condition => toCondition(filter, urns.user, ofUser);

/** @throws ServiceError FIELD_INVALID with `invalidFilter` */
export const groupCondition = (filter: string): Condition => toCondition(filter, urns.group, ofGroup);

/** Returns the condition of one comparison; undefined for an attribute that cannot be compared. */
type ToCondition = (comparison: Comparison, name: string) => Condition | undefined;

function toCondition(filter: string, core: string, of: ToCondition): Condition {
  if (filter === "") return all;
  const conditions = parseFilter(filter).map((comparison) => {
    const { schema, name, part } = comparison.path;
    const isOwn = schema === "" || schema === core.toLowerCase();
    const called = part === undefined ? name : `${name}.${part}`;
    const condition = isOwn ? of(comparison, called) : undefined;
    if (condition !== undefined) return condition;
    const known = core === urns.user ? "userName, externalId, id, displayName, active and emails.value" : groupNames;
    throw scimFault("invalidFilter", `the filter compares ${called}; there are ${known}`);
  });
  return sql`(${sql.join(conditions, sql` and `)})`;
}

const groupNames = "displayName, externalId, id and members.value";

const ofUser: ToCondition = ({ path, value }, name) => {
  if (name === "emails.value" || (name === "emails" && path.where === undefined)) return hasEmail(value, path.where);
  if (path.where !== undefined) return undefined;
  switch (name) {
    case "username":
      return withText(value, (text) => sql`scim_users.user_key = ${fold(text)}`);
    case "externalid":
      return withText(value, (text) => sql`scim_users.external_id = ${text}`);
    case "displayname":
      return withText(value, (text) => sql`scim_users.display_key = ${fold(text)}`);
    case "id":
      return withId(value, (id) => sql`scim_users.member_id = ${id}`);
    case "active":
      return typeof value === "boolean" ? sql`(members.state = 'ACTIVE') = ${value}` : none;
    default:
      return undefined;
  }
};

function hasEmail(value: FilterValue, where: readonly Comparison[] | undefined): Condition | undefined {
  const [of, ...others] = where ?? [];
  if (others.length > 0 || (of !== undefined && (of.path.name !== "type" || of.path.part !== undefined)))
    return undefined;
  return withText(value, (text) => {
    const has = sql`scim_users.emails @> array[${fold(text)}]::text[]`;
    if (of === undefined) return has;
    return withText(of.value, (type) => {
      const isIt = sql`lower(given ->> 'type') = ${fold(type)} and lower(given ->> 'value') = ${fold(text)}`;
      return sql`(${has} and exists (select from jsonb_array_elements(scim_users.attributes -> 'emails') as given where ${isIt}))`;
    });
  });
}

const ofGroup: ToCondition = ({ path, value }, name) => {
  if (path.where !== undefined) return undefined;
  switch (name) {
    case "displayname":
      return withText(value, (text) => sql`scim_groups.display_key = ${fold(text)}`);
    case "externalid":
      return withText(value, (text) => sql`scim_groups.external_id = ${text}`);
    case "id":
      return withId(value, (id) => sql`scim_groups.group_id = ${id}`);
    case "members":
    case "members.value":
      return withId(
        value,
        (id) => sql`exists (
          select from group_members
          join scim_users on scim_users.customer_id = group_members.customer_id and scim_users.org_id = group_members.org_id
            and scim_users.member_id = group_members.member_id and scim_users.source_id = scim_groups.source_id
          where group_members.customer_id = scim_groups.customer_id and group_members.org_id = scim_groups.org_id
            and group_members.group_id = scim_groups.group_id and group_members.member_id = ${id}
            and (group_members.expire_time is null or group_members.expire_time > ${statementTime}))`,
      );
    default:
      return undefined;
  }
};

/** What is no text equals none. */
const withText = (value: FilterValue, to: (text: string) => Condition): Condition =>
  typeof value === "string" && value.isWellFormed() && !value.includes("\0") ? to(value) : none;

const withId = (value: FilterValue, to: (id: string) => Condition): Condition => (isId(value) ? to(value) : none);

/** Whether a value has the form of an id. */
export const isId = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
