// What becomes of resources that have states (AIP-216) and stay readable when they are deleted (AIP-164):
//
//   INVITED ── activate ─→ ACTIVE ── suspend ─→ SUSPENDED ── activate ─→ ACTIVE
//   each of these ── delete ─→ DELETED ── undelete, until its purge time ─→ the state before
//                              DELETED ── purge ─→ its purge time is now
//
// What is past its purge time is removed by `src/purge`.
import { ServiceError } from "../errors/service-error.ts";

/** A row of a table with a lifecycle. */
export interface LifecycleRow {
  readonly id: string;
  readonly org_id?: string;
  readonly state?: string;
  readonly delete_time: Date | null;
}

const live = ["INVITED", "ACTIVE", "SUSPENDED"];

const transitions = {
  delete: { from: live, done: "deleted" },
  undelete: { from: ["DELETED"], done: "brought back" },
  suspend: { from: ["ACTIVE"], done: "suspended" },
  activate: { from: ["SUSPENDED", "INVITED"], done: "activated" },
  purge: { from: ["DELETED"], done: "given up for good" },
} as const;

export type Transition = keyof typeof transitions;

function stateOf({ state = "ACTIVE", delete_time: deleteTime }: Omit<LifecycleRow, "id">): string {
  return deleteTime === null ? state : "DELETED";
}

/** @throws ServiceError STATE_FORBIDS that names the state when a resource cannot make the transition from it. */
export function checkTransition(
  row: Omit<LifecycleRow, "id">,
  transition: Transition,
  label: string,
  path: string,
): void {
  const state = stateOf(row);
  const { from, done } = transitions[transition];
  if (from.some((allowed) => allowed === state)) return;
  const sentence =
    from === live
      ? `the ${label} ${path} is ${state}`
      : `the ${label} ${path} is ${state}: only one that is ${from.join(" or ")} can be ${done}`;
  throw stateForbids(sentence, path, state);
}

export function stateForbids(message: string, path: string, state: string): ServiceError {
  return new ServiceError("STATE_FORBIDS", message, { metadata: { resource: path, state } });
}
