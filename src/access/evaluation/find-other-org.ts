import { type RawBuilder, sql } from "kysely";
import { type Lookup, createBatcher } from "../../database/batch.ts";
import type { Database } from "../../database/database.ts";
import { matchesReference, orgLevel, projectLevel } from "../../database/match-reference.ts";
import type { Orgs, Projects } from "../../database/schema.ts";
import type { OneReference } from "../../paths/parse-path.ts";
import { type SupportGrant, supportGrants } from "./support-grants.ts";
import type { Labels } from "../engine/tables/label-table.ts";

/** An org, and a project in it, whose columns are null if there is none. */
export interface OtherOrg {
  readonly id: string;
  readonly name: string;
  readonly customer_id: string;
  readonly state: Orgs["state"];
  readonly delete_time: Date | null;
  readonly project_id: string | null;
  readonly project_name: string | null;
  readonly project_state: Projects["state"] | null;
  readonly project_delete_time: Date | null;
  readonly labels: Labels;
  readonly project_labels: Labels | null;
  /** What the org has approved for members of the platform; null if its customer requires no approval, and for who is no such member. */
  readonly support_grants?: readonly SupportGrant[] | null;
}

/**
 * Finds an org, and a project in it, as they are in one moment: a name may be given to another org or project at any time. Lookups
 * are batched. Returns undefined if there is no such org.
 */
export type FindOtherOrg = (org: OneReference, project: OneReference | undefined) => Promise<OtherOrg | undefined>;

interface Asked {
  readonly org: string;
  readonly project: string | null;
}

type By = OneReference["by"];

/** @param isForPlatform whether it is for members of the platform, whom a customer may require to be approved. Others read nothing about that. */
export function createFindOtherOrg(database: Database, isForPlatform: boolean): FindOtherOrg {
  const lookupsOf = (by: By) => ({
    id: createLookup(database, isForPlatform, by, "id"),
    name: createLookup(database, isForPlatform, by, "name"),
  });
  const lookups = { id: lookupsOf("id"), name: lookupsOf("name") };
  // Without a project, the name is null, which no project has.
  return (org, project) => lookups[org.by][project?.by ?? "name"]({ org: org.value, project: project?.value ?? null });
}

function createLookup(
  database: Database,
  isForPlatform: boolean,
  orgBy: By,
  projectBy: By,
): Lookup<Asked, OtherOrg | undefined> {
  const isProject = matchesReference(projectLevel, { by: projectBy }, sql.ref("given.project"));
  const found = database.reads
    .selectFrom("orgs")
    .leftJoin("projects", (join) =>
      join
        .onRef("projects.customer_id", "=", "orgs.customer_id")
        .onRef("projects.org_id", "=", "orgs.id")
        .on(isProject),
    )
    .where(matchesReference(orgLevel, { by: orgBy }, sql.ref("given.org")))
    .select(["orgs.id", "orgs.name", "orgs.customer_id", "orgs.state", "orgs.delete_time", "orgs.labels"])
    .select(["projects.id as project_id", "projects.name as project_name", "projects.state as project_state"])
    .select(["projects.delete_time as project_delete_time", "projects.labels as project_labels"])
    .$if(isForPlatform, (query) => query.select(supportGrants.as("support_grants")));
  const { sql: text } = sql`
    select given.position::int as given_position, found.*
    from unnest(${arrayFor(orgBy)}, ${arrayFor(projectBy)}) with ordinality as given (org, project, position)
    cross join lateral (${found} limit 1) as found`.compile(database.reads);
  const name = `${isForPlatform ? "support_in" : "find"}_other_org_by_${orgBy}_${projectBy}`;

  return createBatcher(async (all) => {
    const values = [all.map(({ org }) => org), all.map(({ project }) => project)];
    const rows = await database.readPrepared<OtherOrg & { readonly given_position: number }>(name, text, values);
    const byPosition = new Map(rows.map((row) => [row.given_position, row]));
    return all.map((_asked, index) => byPosition.get(index + 1));
  });
}

function arrayFor(by: By): RawBuilder<unknown> {
  return by === "id" ? sql`${null}::uuid[]` : sql`${null}::text[]`;
}
