// The ledger of what resources hold: what they use, and what they reserve in addition while an operation runs. Each amount
// counts against the quotas of the resource's project, of its org and of its customer. At every commit, the `used` and
// `reserved` of a quota are the sums of its allocations, and no commit raises their total above its limit.
//
// That is exact because all changes of a quota are made under one lock: the customer's row for its own quota, the org's row for
// those of the org and its projects. The order of locks is customer, org: a write that uses the ledger takes the customer's lock
// before its org (`customer` of `WriteLocks`). Amounts are `numeric`: ten times 0.1 is 1.
import { type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { type StatementTemplate, createStatementTemplate } from "../database/statement-template.ts";
import type { Later } from "../database/write-transaction.ts";
import { lockCustomerById } from "../changes/lock-customers.ts";
import { type Excess, quotaExceeded } from "./quota-exceeded.ts";
import type { LedgerPlace, LevelKind } from "./levels.ts";

/** The transaction of a write that holds the lock of its org. */
type LedgerTransaction = Pick<OrgTransaction, "db"> & Partial<Pick<OrgTransaction, "readOnce">>;

/**
 * Amounts by QuantityKind, as exact decimals, each at least 0. The kinds exist. The exact decimal of a double is its shortest
 * text, which is what a person who wrote 0.1 meant: `String(0.1)`.
 */
export type Amounts = ReadonlyMap<string, string>;

/** The quota of one kind at one level, after a change. Amounts are exact decimals. */
export interface Balance {
  readonly level: LevelKind;
  readonly kind: string;
  /** Null for no limit; `left` is null as well then. */
  readonly limit: string | null;
  readonly used: string;
  readonly reserved: string;
  /** What more could be used or reserved. Negative if the change does not fit, or if the limit was lowered below the usage. */
  readonly left: string | null;
}

/**
 * Reserves what a resource needs while an operation runs: of each given kind, it then holds the larger of what it uses and what
 * is wanted. It keeps what it uses of other kinds, and reserves nothing of them.
 *
 * @throws ServiceError QUOTA_EXCEEDED with every limit that does not allow it; nothing is changed then. What does not raise the
 *   total of a kind is never refused.
 */
export async function reserve(
  transaction: LedgerTransaction,
  place: LedgerPlace,
  resourceId: string,
  wanted: Amounts,
): Promise<void> {
  await lockForLedger(transaction, place);
  const { db } = transaction;
  const { rows } = await db.executeQuery(statements.reserve(db, valuesOf(place, resourceId, wanted)));
  await requireNoExcess(transaction, place, rows);
}

/**
 * Reserves what a new resource needs, together with the next statement. `lockForLedger` comes before.
 *
 * @returns the limits that do not allow it; nothing is reserved then.
 */
export function reserveWithNext(
  { db }: LedgerTransaction,
  place: LedgerPlace,
  resourceId: string,
  wanted: Amounts,
): Later<readonly Excess[]> {
  return db.sendWithNext(statements.reserveNew(db, valuesOf(place, resourceId, wanted)));
}

/**
 * Charges what a resource was given, of each given kind, and reserves nothing further, together with the next statement. It keeps what
 * it uses of other kinds: without amounts, the resource holds again what it held before `reserve`. The amounts may exceed what was
 * reserved; the surplus must fit, too. `lockForLedger` comes before.
 *
 * @returns the limits that do not allow it; nothing is charged then.
 */
export function settleWithNext(
  { db }: LedgerTransaction,
  place: LedgerPlace,
  resourceId: string,
  given: Amounts,
): Later<readonly Excess[]> {
  return db.sendWithNext(statements.settle(db, valuesOf(place, resourceId, given)));
}

/**
 * Refuses a change that limits do not allow.
 *
 * @throws ServiceError QUOTA_EXCEEDED
 */
export async function requireNoExcess(
  { db }: LedgerTransaction,
  place: LedgerPlace,
  excesses: readonly Excess[],
): Promise<void> {
  if (excesses.length > 0) throw await quotaExceeded(db, place, excesses);
}

/** Frees everything that a resource holds, which is never refused, together with the next statement. */
export async function release(transaction: LedgerTransaction, place: LedgerPlace, resourceId: string): Promise<void> {
  await lockForLedger(transaction, place);
  const { db } = transaction;
  db.sendWithNext(statements.release(db, valuesOf(place, resourceId, new Map())));
}

/**
 * Locks the customer again, together with the next statement. That costs nothing if the write has the lock, and is right if its org was
 * found by a name that has changed hands.
 */
export async function lockForLedger(
  { db, readOnce }: LedgerTransaction,
  { customerId }: Pick<LedgerPlace, "customerId">,
): Promise<void> {
  const lock = () => Promise.resolve(lockCustomerById(db, customerId));
  await (readOnce?.(`lock of the customer ${customerId}`, lock) ?? lock());
}

/** Returns the quotas of the given kinds at every level as `reserve` would leave them, whether or not it fits. */
export async function preview(
  { db }: LedgerTransaction,
  place: LedgerPlace,
  resourceId: string,
  wanted: Amounts,
): Promise<Balance[]> {
  const { rows } = await sql<Balance>`
    with ${changes(place, resourceId, [...wanted.keys()], [...wanted.values()], reserving)}
    select level, kind, trim_scale(maximum)::text as "limit",
      trim_scale(used + used_change)::text as used, trim_scale(reserved + reserved_change)::text as reserved,
      trim_scale(maximum - used - reserved - used_change - reserved_change)::text as "left"
    from charged order by rank, kind`.execute(db);
  return rows;
}

/** How a change sets what a resource uses and reserves, from `held.used` and `given.amount`, which is null for other kinds. */
interface Rule {
  readonly used: RawBuilder<string>;
  readonly reserved: RawBuilder<string>;
  /** Whether there may be nothing left of what the resource held. */
  readonly frees: boolean;
}

const reserving: Rule = {
  used: sql`coalesce(held.used, 0)`,
  reserved: sql`greatest(coalesce(given.amount, 0) - coalesce(held.used, 0), 0)`,
  frees: true,
};
const settling: Rule = { used: sql`coalesce(given.amount, held.used)`, reserved: sql`0`, frees: true };
const releasing: Rule = { used: sql`0`, reserved: sql`0`, frees: true };

function valuesOf({ customerId, orgId, projectId }: LedgerPlace, resourceId: string, amounts: Amounts): unknown[] {
  return [customerId, orgId, projectId, resourceId, [...amounts.keys()], [...amounts.values()]];
}

/**
 * Creates a statement that changes what a resource holds and the quotas of all levels, or nothing if a limit does not allow it. It returns
 * the limits that do not.
 */
function createChange(rule: Rule): StatementTemplate<Excess> {
  return createStatementTemplate(6, (db, [customerId, orgId, projectId, resourceId, kinds, numbers]) =>
    sql<Excess>`
    with ${changes({ customerId, orgId, projectId }, resourceId, kinds, numbers, rule)},
    excess as (
      select rank, level, kind, maximum, used, reserved, used_change + reserved_change as asked from charged
      where used_change + reserved_change > 0 and used + reserved + used_change + reserved_change > maximum
    ),
    made as (select * from charged where not exists (select from excess)),
    ${rule.frees ? freed(customerId, orgId, resourceId) : sql``}
    allocated as (
      insert into allocations (customer_id, org_id, project_id, resource_id, kind, used, reserved)
      select ${customerId}::uuid, ${orgId}::uuid, ${projectId}::uuid, ${resourceId}::uuid, kind, used_after, reserved_after
      from made where rank = 0 and used_after + reserved_after > 0
      on conflict (customer_id, org_id, resource_id, kind) do update set used = excluded.used, reserved = excluded.reserved
    ),
    updated as (
      update quotas set used = made.used + used_change, reserved = made.reserved + reserved_change from made
      where quotas.customer_id = ${customerId} and quotas.scope_id = made.scope_id and quotas.kind = made.kind
        and (made.maximum is not null or made.used + used_change > 0 or made.reserved + reserved_change > 0)
    ),
    inserted as (
      insert into quotas (customer_id, org_id, scope_id, kind, used, reserved)
      select ${customerId}::uuid, org_id, scope_id, kind, used_change, reserved_change
      from made where is_new and used_change + reserved_change > 0
    )
    select level, kind, trim_scale(maximum)::text as "limit", trim_scale(used)::text as used,
      trim_scale(reserved)::text as reserved, trim_scale(asked)::text as asked
    from excess order by rank, kind`.compile(db),
  );
}

const statements = {
  reserve: createChange(reserving),
  reserveNew: createChange({ ...reserving, frees: false }),
  settle: createChange(settling),
  release: createChange(releasing),
};

/** Returns common table expressions that remove rows of which nothing is left. */
function freed(customerId: unknown, orgId: unknown, resourceId: unknown): RawBuilder<unknown> {
  return sql`
    freed as (
      delete from allocations using made
      where allocations.customer_id = ${customerId} and allocations.org_id = ${orgId} and resource_id = ${resourceId} and allocations.kind = made.kind
        and made.rank = 0 and made.used_after + made.reserved_after = 0
    ),
    removed as (
      delete from quotas using made
      where quotas.customer_id = ${customerId} and quotas.scope_id = made.scope_id and quotas.kind = made.kind
        and made.maximum is null and made.used + made.used_change = 0 and made.reserved + made.reserved_change = 0
    ),`;
}

/**
 * Returns common table expressions, of which `charged` has a row for each level and kind: the quota before the change, the
 * differences, and what the resource holds after it.
 */
function changes(
  { customerId, orgId, projectId }: Readonly<Record<keyof LedgerPlace, unknown>>,
  resourceId: unknown,
  kinds: unknown,
  numbers: unknown,
  rule: Rule,
): RawBuilder<unknown> {
  return sql`
    given as (select * from unnest(${kinds}::text[], ${numbers}::numeric[]) as given (kind, amount)),
    held as (
      select kind, used, reserved from allocations
      where customer_id = ${customerId} and org_id = ${orgId} and resource_id = ${resourceId}
    ),
    next as (
      select kind, coalesce(held.used, 0) as used_before, coalesce(held.reserved, 0) as reserved_before,
        ${rule.used} as used_after, ${rule.reserved} as reserved_after
      from given full join held using (kind)
    ),
    levels (rank, level, org_id, scope_id) as (values
      (0, 'customer', null::uuid, ${customerId}::uuid),
      (1, 'org', ${orgId}::uuid, ${orgId}::uuid),
      (2, 'project', ${orgId}::uuid, ${projectId}::uuid)
    ),
    charged as (
      select levels.*, next.*, quotas.maximum, quotas.kind is null as is_new,
        coalesce(quotas.used, 0) as used, coalesce(quotas.reserved, 0) as reserved,
        used_after - used_before as used_change, reserved_after - reserved_before as reserved_change
      from levels cross join next
      left join quotas
        on quotas.customer_id = ${customerId} and quotas.scope_id = levels.scope_id and quotas.kind = next.kind
    )`;
}
