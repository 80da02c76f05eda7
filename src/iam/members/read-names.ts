import { type Kysely, sql } from "kysely";
import type { Author } from "../../changes/author.ts";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";

/** Reads what people call an org and the author of a change, which may be a member of another org. */
export async function readNames(
  db: Kysely<Schema>,
  org: OrgKey,
  { actorOrgId, actorId }: Pick<Author, "actorOrgId" | "actorId">,
): Promise<{ readonly orgDisplayName: string; readonly inviterDisplayName: string }> {
  const { rows } = await sql<{ org_display_name: string; inviter_display_name: string | null }>`
    select orgs.display_name as org_display_name,
      (select members.display_name from orgs as actor_orgs
        join members on members.customer_id = actor_orgs.customer_id and members.org_id = actor_orgs.id
        where actor_orgs.id = ${actorOrgId} and members.id = ${actorId}) as inviter_display_name
    from orgs where orgs.customer_id = ${org.customer_id} and orgs.id = ${org.id}`.execute(db);
  const [row] = rows;
  return { orgDisplayName: row?.org_display_name ?? "", inviterDisplayName: row?.inviter_display_name ?? "" };
}
