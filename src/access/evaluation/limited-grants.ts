// A limited API key counts no grant that is made after a revision of its member's org. A role binding counts if it, its custom
// role, and the memberships and nestings of one way from the member to its subject have not changed since. They are read for
// each decision, from the database, because snapshots have no revisions of rows.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { CountedBindings } from "../engine/decisions/counted-bindings.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";

/** A member of an org, and the revision of the org up to which grants to it count. */
interface LimitedMember {
  readonly orgId: string;
  readonly memberId: string;
  readonly grantsUntil: string;
}

interface MemberKey extends Omit<LimitedMember, "grantsUntil"> {
  readonly credentialId: string | null;
  /** Null if all grants count. */
  readonly grantsUntil: string | null;
}

/**
 * The maximum number of role bindings that count for a limited key. A key that would have more is not created. The number never
 * grows, because what changes no longer counts.
 */
export const maxCounted = 1000;

/** Another read follows if the snapshot has advanced during one. */
const maxTries = 3;

/** The memberships through which role bindings count: all, or those that do not expire. */
export type Memberships = "current" | "lasting";

/**
 * Returns which role bindings count in decisions from a snapshot of the member's org. Reads nothing if all count.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the API key or the org changes during the read.
 */
export function readCounted(
  db: Kysely<Schema>,
  snapshot: OrgSnapshot,
  { grantsUntil, credentialId, ...member }: MemberKey,
  memberships: Memberships,
): CountedBindings | Promise<CountedBindings> {
  if (grantsUntil === null) return "all";
  return readUpTo(db, snapshot, { ...member, grantsUntil }, { credentialId, memberships });
}

interface ReadOptions {
  readonly credentialId: string | null;
  readonly memberships: Memberships;
}

async function readUpTo(
  db: Kysely<Schema>,
  snapshot: OrgSnapshot,
  member: LimitedMember,
  options: ReadOptions,
): Promise<CountedBindings> {
  for (let attempt = 1; attempt <= maxTries; attempt++) {
    const before = snapshot.revision;
    const read = await readBindings(db, member, before, options);
    if (read === undefined) break;
    const counted = { ids: new Set(read.ids), revisions: [before, read.revision] };
    if (isExact(snapshot, counted)) return counted;
  }
  throw changedMeanwhile();
}

/**
 * Checks that a decision can be made from the snapshot. A snapshot that has advanced since the role bindings were read may have
 * later versions of them.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE
 */
export function requireExact(snapshot: OrgSnapshot, counted: CountedBindings): void {
  if (!isExact(snapshot, counted)) throw changedMeanwhile();
}

function isExact(snapshot: OrgSnapshot, counted: CountedBindings): boolean {
  return counted === "all" || counted.revisions.includes(snapshot.revision);
}

function changedMeanwhile(): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "the API key or its org changed during the call; try again");
}

interface Read {
  /** The org's. */
  readonly revision: string;
  readonly ids: readonly string[];
}

/**
 * Reads the role bindings that count. Returns undefined if there is no such key with this limit, or if the history of the org
 * does not contain the snapshot's revision: after a failover that has lost transactions, the limit and the snapshot can be of a
 * history with other rows at the same numbers. If there are both, what has not changed since the limit is the same in the
 * snapshot.
 */
async function readBindings(
  db: Kysely<Schema>,
  member: LimitedMember,
  snapshotRevision: string,
  { credentialId, memberships }: ReadOptions,
): Promise<Read | undefined> {
  const { orgId, memberId, grantsUntil } = member;
  const { rows } = await sql<Read>`
    ${withCounted(member, memberships === "lasting" ? sql`false` : sql`expire_time > clock_timestamp()`)}
    select revision, array(select id from counted) as ids
    from orgs
    where id = ${orgId}
      and exists (
        select from api_keys
        where org_id = ${orgId} and member_id = ${memberId} and id = ${credentialId} and grants_until = ${grantsUntil}
      )
      and (
        revision = ${snapshotRevision}
        or exists (
          select from changes
          where org_id = ${orgId} and revision = ${snapshotRevision} and position = 0 and time > now() - interval '1 month'
            and ${sql.raw(isInThePast)}
        )
      )`.execute(db);
  return rows[0];
}

/** Reports whether more role bindings would count for a new limited key than may. */
export async function exceedsCounted({ db, org }: OrgTransaction, member: LimitedMember): Promise<boolean> {
  const { rows } = await sql<{ exceeds: boolean }>`
    ${withCounted(member, sql`expire_time > ${org.lockTime}`)} select count(*) > ${maxCounted} as exceeds from counted`.execute(
    db,
  );
  return required(rows[0]).exceeds;
}

/**
 * Names the role bindings that count, by id, `counted`. Contains one more than may count if there are more.
 *
 * @param isInForce whether a membership counts that has an `expire_time`.
 */
function withCounted(
  { orgId, memberId, grantsUntil }: LimitedMember,
  isInForce: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const holds = sql`(expire_time is null or ${isInForce})`;
  return sql`
    with recursive around (id) as (
      select group_id from group_members
      where org_id = ${orgId} and member_id = ${memberId} and changed_revision <= ${grantsUntil} and ${holds}
      union
      select subgroups.group_id
      from around join subgroups on subgroups.org_id = ${orgId} and subgroups.subgroup_id = around.id
      where changed_revision <= ${grantsUntil}
    ), bound (id, role_id) as (
      select id, role_id from role_bindings
      where org_id = ${orgId} and member_id = ${memberId} and changed_revision <= ${grantsUntil}
      union all
      select id, role_id from role_bindings
      where org_id = ${orgId} and group_id = any(array(select id from around)) and changed_revision <= ${grantsUntil}
    ), counted (id) as (
      select bound.id from bound left join roles on roles.org_id = ${orgId} and roles.id = bound.role_id
      where bound.role_id is null or roles.changed_revision <= ${grantsUntil}
      limit ${maxCounted + 1}
    )`;
}
