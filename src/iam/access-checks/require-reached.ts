import { sql } from "kysely";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { isRevision } from "../../changes/revision.ts";
import { createBatcher } from "../../database/batch.ts";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";
import { invalidField } from "../../errors/service-error.ts";

/**
 * Checks that an answer from a confirmed snapshot includes a revision. The snapshot is at the head of the org's history, so it
 * includes every revision in that history.
 *
 * @param wanted the revision; empty for any.
 * @throws ServiceError FIELD_INVALID when the revision is not in the org's history.
 */
export type RequireReached = (snapshot: OrgSnapshot, wanted: string, field: string) => void | Promise<void>;

interface Wanted {
  readonly orgId: string;
  readonly revision: string;
}

export function createRequireReached(database: Database): RequireReached {
  const { sql: text } = sql`
    select org_id, revision from changes
    join unnest(${null}::uuid[], ${null}::uuid[]) as wanted (org_id, revision) using (org_id, revision)
    where position = 0 and ${sql.raw(isInThePast)}`.compile(database.reads);
  const isLogged = createBatcher(async (all: readonly Wanted[]) => {
    const values = [all.map(({ orgId }) => orgId), all.map(({ revision }) => revision)];
    const found = await database.readPrepared<{ org_id: string; revision: string }>("find_revisions", text, values);
    const logged = new Set(found.map(({ org_id, revision }) => `${org_id} ${revision}`));
    return all.map(({ orgId, revision }) => logged.has(`${orgId} ${revision}`));
  });

  const requireLogged = async (wanted: Wanted, field: string): Promise<void> => {
    if (isRevision(wanted.revision) && (await isLogged(wanted))) return;
    const description =
      "must be the revision of an earlier response about this Org; the Org's history does not have it: it is of another Org, or was lost when the database was restored or failed over";
    throw invalidField(field, description, "revision");
  };

  return ({ org, hasReached }, revision, field) =>
    revision === "" || hasReached(revision) ? undefined : requireLogged({ orgId: org.id, revision }, field);
}
