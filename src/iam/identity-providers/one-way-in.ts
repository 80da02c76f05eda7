// An org has SCIM sources, or identity providers that create members, and not both: a directory takes the identity of whom it deletes, and knows
// nothing of who came in by a first sign-in. Whoever it has sent away would come back by the door. Both are set under the lock of the org.
import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";

/** An error names so many of those that are in the way. */
const maxNamed = 3;

/** @throws ServiceError STATE_FORBIDS that names the SCIM sources of the org, if it has any. */
export async function requireNoSource({ db, org }: OrgTransaction): Promise<void> {
  const rows = await db
    .selectFrom("scim_sources")
    .select("name")
    .where(isInOrgOf("scim_sources", org))
    .orderBy("name")
    .limit(maxNamed)
    .execute();
  const paths = rows.map(({ name }) => formatPath(patterns.ScimSource, pathName(org), name));
  requireNone(
    paths,
    "identity_provider.on_first_sign_in must be REFUSE while the org has a SCIM source: a directory says who is a member, and whom it has deleted would come back at a first sign-in. Delete first",
  );
}

/** @throws ServiceError STATE_FORBIDS that names the identity providers of the org that create members, if it has any. */
export async function requireNoneCreatesMembers({ db, org }: OrgTransaction): Promise<void> {
  const rows = await db
    .selectFrom("identity_providers")
    .select("name")
    .where(isInOrgOf("identity_providers", org))
    .where(sql<boolean>`creates_members`)
    .orderBy("name")
    .limit(maxNamed)
    .execute();
  const paths = rows.map(({ name }) => formatPath(patterns.IdentityProvider, pathName(org), name));
  requireNone(
    paths,
    "a SCIM source cannot be created while an identity provider of the org creates members: whom the directory has deleted would come back at a first sign-in. Set on_first_sign_in to REFUSE first, of",
  );
}

function requireNone([first, ...others]: readonly string[], rule: string): void {
  if (first === undefined) return;
  const message = `${rule} ${[first, ...others].join(", ")}`;
  throw new ServiceError("STATE_FORBIDS", message, { metadata: { resource: first } });
}
