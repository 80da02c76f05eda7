import { sql } from "kysely";
import { type Lookup, createBatcher } from "../../database/batch.ts";
import type { OrgHead } from "../../changes/revision.ts";
import type { Database } from "../../database/database.ts";
import { matchesReference, orgLevel } from "../../database/match-reference.ts";
import { type RecentOrgs, type CallerWithHeads, findRecentHead } from "../../identity/recent-orgs.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { clockMs } from "../../database/clock.ts";

/**
 * Reads the head of an org. Lookups are batched: one small statement serves all that are waiting. Returns undefined if the path
 * names no org, or several.
 *
 * @param caller may have the head already, read after its call arrived; otherwise its next call will. Undefined for a head that is
 *   read now.
 */
export type OrgHeads = (path: readonly [org: Reference], caller?: CallerWithHeads) => Promise<OrgHead | undefined>;

export function createOrgHeads(database: Database, recent: RecentOrgs): OrgHeads {
  const lookups = { id: createLookup(database, "id"), name: createLookup(database, "name") };
  return async ([org], caller) => {
    if (org.by === "any") return undefined;
    const head = (caller && findRecentHead(caller, org)) ?? (await lookups[org.by](org.value));
    if (head !== undefined && caller !== undefined) recent.add(caller.clientId, head.id);
    return head;
  };
}

function createLookup(database: Database, by: "id" | "name"): Lookup<string, OrgHead | undefined> {
  const given = by === "id" ? sql`any (${null}::uuid[])` : sql`any (${null}::text[])`;
  const { sql: text } = database.reads
    .selectFrom("orgs")
    .select(["id", "name", "customer_id", "state", "delete_time", "revision"])
    .select(clockMs.as("now"))
    .where(matchesReference(orgLevel, { by }, given))
    .compile();
  return createBatcher(async (values) => {
    // Many calls request the same org, which is read once for all of them.
    const distinct = [...new Set(values)];
    const readAt = performance.now();
    const found = await database.readPrepared<Omit<OrgHead, "readAt">>(`find_org_heads_by_${by}`, text, [distinct]);
    const byValue = new Map(found.map((head) => [head[by], { ...head, readAt }]));
    return values.map((value) => byValue.get(value));
  });
}
