// A customer with orgs and projects, and QuantityKinds, for tests of the ledger without a server.
import { sql } from "kysely";
import { v7 as uuid } from "uuid";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import { serviceAuthor } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import { lockForLedger, release, requireNoExcess, reserve, settleWithNext } from "../../src/quotas/ledger.ts";
import type { LedgerPlace } from "../../src/quotas/levels.ts";
import { QuotaExceeded } from "../../src/quotas/quota-exceeded.ts";
import type { WriteTransaction } from "../../src/database/write-transaction.ts";
import { firstRevision } from "../../src/changes/revision.ts";

const revision = "00000000-0000-0001-8000-000000000000";

/** Creates a customer with this many orgs, each with this many projects. */
export async function makePlaces(database: Database, orgs: number, projects: number): Promise<LedgerPlace[]> {
  const customerId = uuid();
  const places = Array.from({ length: orgs }, () => uuid()).flatMap((orgId) =>
    Array.from({ length: projects }, () => ({ customerId, orgId, projectId: uuid() })),
  );
  await inTransaction(database, async (db) => {
    const named = (id: string) => ({
      id,
      name: `n${id}`,
      display_name: "",
      description: "",
      labels: "{}",
      changed_revision: revision,
    });
    await db.insertInto("customers").values(named(customerId)).execute();
    for (const orgId of new Set(places.map((place) => place.orgId))) {
      const own = {
        customer_id: customerId,
        state: "ACTIVE",
        revision: firstRevision(),
        revision_time: "now",
      } as const;
      await db
        .insertInto("orgs")
        .values({ ...named(orgId), ...own })
        .execute();
    }
    for (const { orgId, projectId } of places) {
      await db
        .insertInto("projects")
        .values({ ...named(projectId), customer_id: customerId, org_id: orgId, state: "ACTIVE" })
        .execute();
    }
  });
  return places;
}

/** Creates the QuantityKinds that do not exist yet, in the first org. */
export async function makeKinds(database: Database, orgId: string, names: readonly string[]): Promise<void> {
  await sql`
    insert into quantity_kinds (org_id, id, unit, step, name, display_name, description, labels, changed_revision)
    select ${orgId}::uuid, gen_random_uuid(), '', 1, name, '', '', '{}', ${revision}::uuid
    from unnest(${names}::text[]) as name on conflict do nothing`.execute(database.writes);
}

export type LevelName = "customer" | "org" | "project";

export function scopeOf({ customerId, orgId, projectId }: LedgerPlace, level: LevelName) {
  if (level === "customer") return { orgId: null, scopeId: customerId };
  return { orgId, scopeId: level === "org" ? orgId : projectId };
}

/** Sets a limit, an exact decimal, under the locks that the API takes; null removes it. */
export async function setLimit(
  database: Database,
  place: LedgerPlace,
  level: LevelName,
  kind: string,
  limit: string | null,
): Promise<void> {
  const { orgId, scopeId } = scopeOf(place, level);
  await inLockedOrg(database, place, async ({ db }) => {
    await sql`
      insert into quotas (customer_id, org_id, scope_id, kind, maximum, used, reserved)
      values (${place.customerId}::uuid, ${orgId}::uuid, ${scopeId}::uuid, ${kind}, ${limit}::numeric, 0, 0)
      on conflict (customer_id, scope_id, kind) do update set maximum = excluded.maximum`.execute(db);
    await sql`delete from quotas where maximum is null and used = 0 and reserved = 0`.execute(db);
  });
}

type OrgWrite<Result> = (transaction: { readonly db: WriteTransaction }) => Promise<Result>;

/** Runs a write with the locks that a write of a resource takes: the customer's first, then the org's. */
export function inLockedOrg<Result>(
  database: Database,
  { orgId }: LedgerPlace,
  write: OrgWrite<Result>,
): Promise<Result> {
  const org = { by: "id", value: orgId } as const;
  return inTransaction(database, (db) => writeInOrg(db, { org, customer: true }, serviceAuthor("test"), write));
}

/** Amounts by kind, as tests write them. */
export type Amounts = Readonly<Record<string, number>>;

export function exact(amounts: Amounts): ReadonlyMap<string, string> {
  return new Map(Object.entries(amounts).map(([kind, amount]) => [kind, String(amount)]));
}

/** Shows a refusal as to somebody who may get all quotas. */
async function shown<Result>(change: Promise<Result>): Promise<Result> {
  return change.catch(async (error: unknown) => {
    throw error instanceof QuotaExceeded ? await error.shownTo(() => Promise.resolve(true)) : error;
  });
}

/** A ledger whose operations each run in their own transaction. */
export function ledgerOn(database: Database) {
  return {
    reserve: (place: LedgerPlace, id: string, amounts: Amounts) =>
      shown(inLockedOrg(database, place, (transaction) => reserve(transaction, place, id, exact(amounts)))),
    settle: (place: LedgerPlace, id: string, amounts: Amounts) =>
      shown(
        inLockedOrg(database, place, async (transaction) => {
          await lockForLedger(transaction, place);
          const excesses = settleWithNext(transaction, place, id, exact(amounts));
          await sql`select`.execute(transaction.db);
          await requireNoExcess(transaction, place, excesses());
        }),
      ),
    release: (place: LedgerPlace, id: string) =>
      inLockedOrg(database, place, (transaction) => release(transaction, place, id)),
  };
}

interface StoredBalance {
  readonly maximum: string | null;
  readonly used: string;
  readonly reserved: string;
}

/** Returns the quota of a kind at a level; undefined if there is neither a limit nor usage. */
export async function readBalance(
  database: Database,
  place: LedgerPlace,
  level: LevelName,
  kind: string,
): Promise<StoredBalance | undefined> {
  const { scopeId } = scopeOf(place, level);
  const { rows } = await sql<StoredBalance>`
    select trim_scale(maximum)::text as maximum, trim_scale(used)::text as used, trim_scale(reserved)::text as reserved
    from quotas where customer_id = ${place.customerId} and scope_id = ${scopeId} and kind = ${kind}`.execute(
    database.writes,
  );
  return rows[0];
}
