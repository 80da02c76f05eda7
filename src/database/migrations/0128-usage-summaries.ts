import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Creates the tables of what usage was, summed up by the hour or the day. Both can be made from the log at any time, so that what a server
 * of the version before does not write is not missed. Those of a customer have its id in the place of that of an org.
 */
export async function createUsageSummaries(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table usage_summaries (
      customer_id uuid not null,
      org_id uuid not null,
      scope_id uuid not null,
      divided_by text not null,
      piece bigint not null,
      id uuid not null,
      begins bigint not null,
      ends bigint not null,
      orgs uuid[] not null,
      primary key (customer_id, org_id, scope_id, divided_by, piece)
    )`,
    `create table usage_sums (
      customer_id uuid not null,
      org_id uuid not null,
      summary_id uuid not null,
      begins bigint,
      of_org_id uuid,
      project_id uuid,
      service_id uuid,
      type_id uuid,
      kind text collate "C" not null,
      change numeric not null,
      moment numeric not null,
      highest numeric not null
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const indexesOfUsageSums: readonly Index[] = [
  { name: "usage_sums_by_time", definition: "on usage_sums (customer_id, org_id, summary_id, begins)" },
];
