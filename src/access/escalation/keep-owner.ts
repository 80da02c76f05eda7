import { sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Later } from "../../database/write-transaction.ts";
import { ServiceError } from "../../errors/service-error.ts";

/** The scopes that must keep an owner: the org and, for the installation's own org, the platform. */
type Owned = "ORG" | "PLATFORM";

/**
 * Checks that a write which may remove access has left an owner to what had one before. An owner is an ACTIVE member that holds the
 * role `owner`, directly or through groups, without a condition or an expire time.
 *
 * @param before what `findOwned` found before the write.
 * @throws ServiceError LAST_OWNER
 */
export async function requireOwned(transaction: OrgTransaction, before: Later<readonly Owned[]>): Promise<void> {
  await transaction.db.sendHeld();
  const owned = before();
  if (owned.length === 0) return;
  const reading = findOwned(transaction);
  await transaction.db.sendHeld();
  const after = reading();
  const lost = owned.find((each) => !after.includes(each));
  if (lost === undefined) return;
  const { org } = transaction;
  const what = lost === "ORG" ? `the org /orgs/${org.name}` : "the platform";
  throw new ServiceError("LAST_OWNER", `${what} would be left without an owner: make another member its owner first`, {
    metadata: { resource: lost === "ORG" ? `/orgs/${org.name}` : "/" },
  });
}

/** Finds the scopes in an org that have an owner now, together with the next statement. */
export function findOwned({ db, org: { id: orgId, lockTime } }: OrgTransaction): Later<readonly Owned[]> {
  const statement = sql<{ owned: Owned }>`
    with recursive granted (owned, member_id, group_id) as (
      select scope_type, member_id, group_id from role_bindings
      where org_id = ${orgId} and predefined_role = 'owner' and scope_type in ('ORG', 'PLATFORM')
        and condition = '' and expire_time is null and (start_time is null or start_time <= ${lockTime})
    ), inside (owned, group_id) as (
      select owned, group_id from granted where group_id is not null
      union
      select owned, subgroups.subgroup_id
      from inside join subgroups on subgroups.org_id = ${orgId} and subgroups.group_id = inside.group_id
    )
    select owned from (values ('ORG'), ('PLATFORM')) as all_owned (owned)
    where exists (
      select from granted
      join members on members.org_id = ${orgId} and members.id = granted.member_id
      where granted.owned = all_owned.owned and members.state = 'ACTIVE' and members.delete_time is null
    ) or exists (
      select from inside
      join group_members on group_members.org_id = ${orgId} and group_members.group_id = inside.group_id
      join members on members.org_id = ${orgId} and members.id = group_members.member_id
      where inside.owned = all_owned.owned and group_members.expire_time is null
        and members.state = 'ACTIVE' and members.delete_time is null
    )`;
  const reading = db.readWithNext(statement.compile(db));
  return () => reading().map(({ owned }) => owned);
}
