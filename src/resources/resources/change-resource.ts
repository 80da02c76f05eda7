import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { type Amounts, lockForLedger, requireNoExcess, settleWithNext } from "../../quotas/ledger.ts";
import { countedAmounts, placeOf } from "../counted-amounts.ts";
import type { Variables } from "../operations/read-variables.ts";
import type { OperationRow } from "../operations/store.ts";
import { readTypeOnce } from "../resource-types/find-type.ts";
import { infrastructureDefinition } from "./definition.ts";
import { toResource } from "./message.ts";
import type { InfrastructureRow } from "./store.ts";

export type ChangedColumns = Partial<
  Pick<
    InfrastructureRow,
    | "state"
    | "state_reason"
    | "quantities"
    | "qualities"
    | "given_quantities"
    | "given_qualities"
    | "outputs"
    | "reference_ids"
  >
>;

const jsonColumns: ReadonlySet<string> = new Set([
  "quantities",
  "qualities",
  "given_quantities",
  "given_qualities",
  "outputs",
  "reference_ids",
]);

/** The operations that take a resource away, after which it has no more than before. */
export const takesAway: ReadonlySet<string> = new Set(["delete", "purge"]);

/** Returns what is wanted of a resource when an operation has succeeded: what it is given must be at least that. */
export function wantedAfter(
  resource: InfrastructureRow,
  { verb, quantities, qualities }: Pick<OperationRow, "verb" | "quantities" | "qualities">,
): Variables {
  if (takesAway.has(verb)) return { quantities, qualities };
  return {
    quantities: { ...resource.quantities, ...quantities },
    qualities: { ...resource.qualities, ...qualities },
  };
}

/**
 * Returns what a working resource was given. What it has not been given so far, because its creation failed, was given as it
 * was wanted: a resource that works counts against quotas.
 */
export function givenWith(resource: InfrastructureRow, given: Variables) {
  return {
    given_quantities: { ...resource.quantities, ...resource.given_quantities, ...given.quantities },
    given_qualities: { ...resource.qualities, ...resource.given_qualities, ...given.qualities },
  };
}

/**
 * Changes a resource after an operation or a report.
 *
 * @param running the operations that go on changing it, in the order of their start. While there are any, the resource is UPDATING.
 *   They need no more of the quotas than the resource has when it works, so the last operation, and each one that succeeds,
 *   charges what it has.
 */
export async function changeResource(
  transaction: OrgTransaction,
  resource: InfrastructureRow,
  change: ChangedColumns,
  running: readonly string[] = [],
): Promise<InfrastructureRow> {
  const { db, org, revision, time } = transaction;
  const [first = null] = running;
  const columns = Object.fromEntries(
    Object.entries(change).map(([column, value]) => [column, jsonColumns.has(column) ? JSON.stringify(value) : value]),
  );
  const charges = first === null || change.given_quantities !== undefined;
  const place = placeOf(transaction, resource);
  const has = charges ? await prepareCharge(transaction, { ...resource, ...change }) : undefined;
  const excesses = has && settleWithNext(transaction, place, resource.id, has);
  const after = {
    ...resource,
    ...(await updateRow({ db, org, revision, time }, infrastructureDefinition, resource, {
      fields: toResource(resource),
      columns: {
        ...columns,
        ...(first !== null && { state: "UPDATING" }),
        operation_id: first,
        concurrent_ids: [...running],
      },
    })),
  };
  if (excesses !== undefined) await requireNoExcess(transaction, place, excesses());
  recordChange(transaction, infrastructureDefinition, resource, after);
  return after;
}

/** Returns what a resource is to be charged for: what it has, whatever an operation has reserved for it. */
async function prepareCharge(transaction: OrgTransaction, resource: InfrastructureRow): Promise<Amounts> {
  const { operations } = await readTypeOnce(transaction, resource.type_id);
  await lockForLedger(transaction, placeOf(transaction, resource));
  return countedAmounts(operations, resource.given_quantities);
}

/**
 * Lets a resource be DELETED after an operation, or makes that permanent after a purge that failed. What it has stays charged.
 *
 * @param reason why it could not be purged; empty otherwise.
 */
export async function changeDeletion(
  transaction: OrgTransaction,
  resource: InfrastructureRow,
  { transition, retentionDays, reason }: Deletion,
): Promise<InfrastructureRow> {
  const { db, org, revision, time } = transaction;
  const columns = { state: "ACTIVE", state_reason: reason, operation_id: null } as const;
  const making = { transition, retentionDays, columns };
  const place = placeOf(transaction, resource);
  const has = await prepareCharge(transaction, resource);
  const excesses = settleWithNext(transaction, place, resource.id, has);
  const made = await makeTransitions({ db, org, revision, time }, infrastructureDefinition, [resource], making);
  await requireNoExcess(transaction, place, excesses());
  const after = required(made.rows[0]);
  recordChange(transaction, infrastructureDefinition, resource, after);
  return after;
}

interface Deletion {
  readonly transition: "delete" | "purge";
  /** For how many days it can be restored. */
  readonly retentionDays: number;
  readonly reason: string;
}
