import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Orgs } from "../database/schema.ts";
import { type PathLookup, createPathLookup } from "../resource/path-lookup.ts";

/** Where an org stands, as a read that started after it was asked for has it. */
interface OrgHead {
  readonly id: string;
  readonly name: string;
  readonly customer_id: string;
  readonly state: Orgs["state"];
  readonly delete_time: Date | null;
  /** The head of its change log. */
  readonly revision: string;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/** Batched: all that wait are answered by one small statement. */
export type OrgHeads = PathLookup<OrgHead>;

export function createOrgHeads(database: Database): OrgHeads {
  const rows = database.reads
    .selectFrom("orgs")
    .select(["orgs.id", "orgs.name", "orgs.customer_id", "orgs.state", "orgs.delete_time", "orgs.revision"])
    .select(databaseTime.as("now"));
  return createPathLookup<OrgHead>(database, "org_heads", ["orgs"], rows);
}

/** The database's clock: all servers decide by the same one. */
const databaseTime = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::float8`;
