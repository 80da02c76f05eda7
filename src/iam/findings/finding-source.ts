// How findings of one kind are read: candidates in the order of their keys, a bounded number at a time, and which of them are findings.
// So what a statement costs depends neither on the size of the org nor on how few findings there are.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Finding_Kind } from "../../../gen/iam/v1alpha/finding_pb.ts";
import { statementTime } from "../../database/clock.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import { pathText } from "../../filters/common-fields.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";

export type FindingKind = Exclude<keyof typeof Finding_Kind, "KIND_UNSPECIFIED">;

/** What a request asks, besides its filter. */
export interface FindingsQuestion {
  readonly org: OrgKey;
  /** For how many days something is not used before it is found. */
  readonly unusedDays: number;
  /** Since when what is used is recorded. */
  readonly recordedSince: Date;
  readonly predefinedRoles: readonly PredefinedRole[];
}

/** The columns that each source selects of `candidates`, which has the columns of the table and `key`. */
export interface FindingColumns {
  /** The ids by which candidates are ordered. */
  readonly key: readonly string[];
  readonly kind: FindingKind;
  readonly resource_path: string;
  /** Empty for none. */
  readonly related_path: string;
  readonly since_time: Date | null;
  /** The project that the resource is in; null for none. */
  readonly project_id: string | null;
  /** The permissions of a role that are found; null for a finding of another kind. */
  readonly permissions: readonly string[] | null;
}

export interface FindingSource {
  readonly kind: FindingKind;
  /** The permissions on the org without which the kind is not shown. */
  readonly needs: readonly string[];
  readonly table:
    | "api_keys"
    | "clients"
    | "group_members"
    | "groups"
    | "members"
    | "role_bindings"
    | "roles"
    | "subgroups";
  /** The columns by which candidates are ordered, which an index of the org has. */
  readonly key: readonly string[];
  /** Which rows of the table are candidates, if not all. An index has them, or nearly all rows are. */
  readonly isCandidate?: RawBuilder<SqlBool>;
  /** Whether it is known only for the time in which what is used is recorded. */
  readonly isOfUse?: true;
  /** How many candidates a statement looks at. */
  readonly atOnce: number;
  readonly select: (question: FindingsQuestion) => RawBuilder<FindingColumns>;
}

export interface CandidatePage {
  /** The key of the candidate after which to go on. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
  readonly filter: RawBuilder<SqlBool>;
}

/** A row of the statement: a finding, or nothing if there is none, with how far the statement has looked. */
export type FoundRow = { readonly examined: number; readonly last_key: readonly string[] | null } & (
  | FindingColumns
  | Record<keyof FindingColumns, null>
);

/** Selects the first findings among the next candidates. There is always a row. */
export function selectFindings(
  source: FindingSource,
  question: FindingsQuestion,
  { after, limit, filter }: CandidatePage,
): RawBuilder<FoundRow> {
  const { table, isCandidate = sql<SqlBool>`true`, atOnce } = source;
  const key = sql.join(source.key.map((column) => sql.ref(`${table}.${column}`)));
  const isAfter =
    after === undefined ? sql`true` : sql`(${key}) > (${sql.join(after.map((value) => sql`${value}::uuid`))})`;
  return sql<FoundRow>`
    with candidates as materialized (
      select ${sql.table(table)}.*, array[${key}] as key from ${sql.table(table)}
      where ${isInOrgOf(table, question.org)} and ${isCandidate} and ${isAfter}
      order by ${key} limit ${atOnce}
    ), found as (
      select finding.* from (${source.select(question)}) as finding where ${filter} order by finding.key limit ${limit}
    )
    select (select count(*)::integer from candidates) as examined, (select max(key)::text[] from candidates) as last_key,
      found.key::text[] as key, found.kind, found.resource_path, found.related_path, found.since_time, found.project_id, found.permissions
    from (values (1)) as one left join found on true
    order by found.key`;
}

export const isUnexpired = (table: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref(`${table}.expire_time`)} is null or ${sql.ref(`${table}.expire_time`)} > ${statementTime})`;

/** The time before which something was used for the last time, if it is unused. A day has 24 hours, whatever the time zone of the session. */
export function unusedSince({ unusedDays }: Pick<FindingsQuestion, "unusedDays">): RawBuilder<Date> {
  return sql<Date>`(${statementTime} - make_interval(hours => ${24 * unusedDays}))`;
}

const level = (collection: string, alias: string, keepsDeleted: boolean) => ({ collection, alias, keepsDeleted });

const orgs = level("orgs", "orgs", true);
const members = level("members", "members", true);

/** The paths of resources, as texts, in statements that join what contains them by these names. */
export const pathTexts = {
  member: pathText([orgs, members]).value,
  apiKey: pathText([orgs, members, level("apiKeys", "api_keys", false)]).value,
  group: pathText([orgs, level("groups", "groups", false)]).value,
  role: pathText([orgs, level("roles", "roles", false)]).value,
  client: pathText([orgs, level("clients", "clients", false)]).value,
  groupMember: pathText([orgs, level("groups", "groups", false), members]).value,
  subgroup: pathText([orgs, level("groups", "groups", false), level("subgroups", "inner_groups", false)]).value,
  orgBinding: (alias: string) => pathText([orgs, level("roleBindings", alias, false)]).value,
  projectBinding: (alias: string) =>
    pathText([orgs, level("projects", "projects", true), level("roleBindings", alias, false)]).value,
};

/** The path of a binding on the org or one of its projects. One that contains another on a project is on that or on the org. */
export function pathOfBinding(alias: string): RawBuilder<string> {
  return sql<string>`case when ${sql.ref(`${alias}.project_id`)} is null
    then ${pathTexts.orgBinding(alias)} else ${pathTexts.projectBinding(alias)} end`;
}
