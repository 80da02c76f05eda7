// Brings the resources in an org or a project to its state: they are deleted with it, suspended with it and resumed with it, by
// operations that their providers carry out. It also has deleted resources purged when their time has come. A sweep looks at the
// resources in rounds, a bounded number in each transaction,
// until a round finds that all have followed.
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { cancelOpenOperation } from "../operations/cancel-operation.ts";
import type { EndDependencies } from "../operations/end-operation.ts";
import { infrastructureDefinition } from "../resources/definition.ts";
import { type StartDependencies, nothingGiven, startChange } from "../resources/start-change.ts";
import {
  type SweptResource,
  type SweptScope,
  continueSweep,
  endSweep,
  lockDueSweep,
  readSwept,
  repeatSweep,
} from "./store.ts";

/** How many resources a transaction reads, and how many of them it changes. */
const readPerStep = 1_000;
const changedPerStep = 20;

/** What a resource has to do to follow its project and org. */
type Need =
  | "nothing"
  /** To wait for the operations that are changing it, or until no other resource uses it. */
  | "wait"
  /** To have these operations cancelled, because the resource is to be deleted. */
  | { readonly cancel: readonly string[] }
  /** To start an operation. */
  | { readonly verb: "delete" | "suspend" | "resume" | "purge" };

/** Runs the next step of a sweep, in a write in its org. Returns whether another step can follow at once. */
export async function sweep(
  transaction: OrgTransaction,
  dependencies: EndDependencies & StartDependencies,
  scope: SweptScope,
): Promise<boolean> {
  const progress = await lockDueSweep(transaction, scope);
  if (progress === undefined) return false;
  const found = await readSwept(transaction, scope, progress, readPerStep);
  let isPending = progress.is_pending;
  let changed = 0;
  for (const resource of found) {
    const need = needOf(resource);
    if (need === "nothing") continue;
    isPending = true;
    if (need === "wait") continue;
    await follow(transaction, dependencies, resource.id, need);
    changed++;
    if (changed === changedPerStep) {
      await continueSweep(transaction, scope, resource.id, isPending);
      return true;
    }
  }
  const last = found.at(-1);
  if (last !== undefined && found.length === readPerStep) {
    await continueSweep(transaction, scope, last.id, isPending);
    return true;
  }
  await (isPending ? repeatSweep(transaction, scope, progress) : endSweep(transaction.db, scope));
  return false;
}

function needOf(resource: SweptResource): Need {
  const { container, state, operations, verbs, isUsed, isDeleted, isDue } = resource;
  const isIdle = operations.length === 0;
  // It is purged with its project.
  if (isDeleted && (isDue || container === "DELETED")) return isIdle && !isUsed ? { verb: "purge" } : "wait";
  if (isDeleted) return "nothing";
  switch (container) {
    case "DELETED": {
      if (!verbs.includes("delete")) return "nothing";
      if (isIdle) return isUsed ? "wait" : { verb: "delete" };
      const unasked = operations.filter(({ verb, isCancelRequested }) => verb !== "delete" && !isCancelRequested);
      return unasked.length === 0 ? "wait" : { cancel: unasked.map(({ id }) => id) };
    }
    case "SUSPENDED":
      if (!verbs.includes("suspend")) return "nothing";
      if (!isIdle) return "wait";
      return state === "ACTIVE" ? { verb: "suspend" } : "nothing";
    case "ACTIVE":
      if (isIdle) return state === "SUSPENDED" ? { verb: "resume" } : "nothing";
      return operations.some(({ verb, priorState }) => verb === "suspend" || priorState === "SUSPENDED")
        ? "wait"
        : "nothing";
  }
}

async function follow(
  transaction: OrgTransaction,
  dependencies: EndDependencies & StartDependencies,
  id: string,
  need: Exclude<Need, "nothing" | "wait">,
): Promise<void> {
  const { db, org } = transaction;
  if ("cancel" in need) {
    for (const each of need.cancel) {
      await cancelOpenOperation(transaction, dependencies, { org_id: org.id, id: each });
    }
    return;
  }
  const [resource] = await readByKeys(db, infrastructureDefinition, [{ org_id: org.id, id }]);
  await startChange(transaction, dependencies, required(resource), { verb: need.verb, field: "", ...nothingGiven });
}
