// The paths of the groups, and the units of the kinds. What is deleted has ids in the place of names.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { byId, formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { GroupKey } from "./select-usage.ts";

/** What is shown of a group. Empty where there is nothing to show. */
export interface GroupNames {
  readonly orgPath: string;
  readonly projectPath: string;
  readonly servicePath: string;
  readonly typePath: string;
  readonly unit: string;
}

/** Returns a function that returns what is shown of a group of a customer, of those that are given. */
export async function readNames(
  db: Kysely<Schema>,
  customerId: string,
  groups: readonly GroupKey[],
): Promise<(group: GroupKey) => GroupNames> {
  const idsOf = (key: keyof GroupKey) => [...new Set(groups.flatMap((group) => group[key] ?? []))];
  const ofCustomer = sql`customer_id = ${customerId}`;
  const orgs = await readSegments(db, sql`select id, name, delete_time from orgs where ${ofCustomer}`, idsOf("org_id"));
  const inOrgs = sql`select id, name, delete_time from projects where ${ofCustomer}`;
  const projects = await readSegments(db, inOrgs, idsOf("project_id"));
  const services = await readSegments(db, sql`select id, name from services where true`, idsOf("service_id"));
  const types = await readSegments(db, sql`select id, name from resource_types where true`, idsOf("type_id"));
  const units = await readUnits(db, idsOf("kind"));
  return ({ org_id: orgId, project_id: projectId, service_id: serviceId, type_id: typeId, kind }) => {
    const [org, service] = [orgs(orgId), services(serviceId)];
    return {
      orgPath: orgId === null ? "" : formatPath(patterns.Org, org),
      projectPath: projectId === null ? "" : formatPath(patterns.Project, org, projects(projectId)),
      servicePath: serviceId === null ? "" : formatPath(patterns.Service, service),
      typePath: typeId === null ? "" : formatPath(patterns.ResourceType, service, types(typeId)),
      unit: units.get(kind) ?? "",
    };
  };
}

/** Returns a function that returns what names something in a path; `-` for what is not known. */
async function readSegments(
  db: Kysely<Schema>,
  select: RawBuilder<unknown>,
  ids: readonly string[],
): Promise<(id: string | null) => string> {
  const { rows } =
    ids.length === 0
      ? { rows: [] }
      : await sql<Parameters<typeof pathName>[0]>`${select} and id = any(${ids}::uuid[])`.execute(db);
  const names = new Map(rows.map((row) => [row.id, pathName(row)]));
  return (id) => (id === null ? "-" : (names.get(id) ?? byId(id)));
}

async function readUnits(db: Kysely<Schema>, kinds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; unit: string }>`
    select name, unit from quantity_kinds where name = any(${kinds}::text[])`.execute(db);
  return new Map(rows.map(({ name, unit }) => [name, unit]));
}
