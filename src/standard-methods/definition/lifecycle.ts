// The lifecycle of resources that have states (AIP-216) and soft deletion (AIP-164):
//
//   INVITED ── activate ─→ ACTIVE ── suspend ─→ SUSPENDED ── activate ─→ ACTIVE
//   each of these ── delete ─→ DELETED ── undelete, before its purge time ─→ the previous state
//                              DELETED ── purge ─→ DELETED, with the current time as its purge time
//
// `src/jobs/purge` removes resources whose purge time has passed.
import { ServiceError } from "../../errors/service-error.ts";

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
  undelete: { from: ["DELETED"], done: "undeleted" },
  suspend: { from: ["ACTIVE"], done: "suspended" },
  activate: { from: ["SUSPENDED", "INVITED"], done: "activated" },
  purge: { from: ["DELETED"], done: "purged" },
} as const;

export type Transition = keyof typeof transitions;

/** Whether only a deleted resource can make the transition. */
export function isOfDeleted(transition: Transition): boolean {
  return transitions[transition].from.every((state) => state === "DELETED");
}

/** Returns the state of a row as its message shows it. */
export function stateOf({ state = "ACTIVE", delete_time: deleteTime }: Omit<LifecycleRow, "id">): string {
  return deleteTime === null ? state : "DELETED";
}

/**
 * Checks that a resource can make a transition from its current state.
 *
 * @throws ServiceError STATE_FORBIDS that names the state.
 */
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
      : `the ${label} ${path} is ${state}: it must be ${from.join(" or ")} to be ${done}`;
  throw stateForbids(sentence, path, state);
}

export function stateForbids(message: string, path: string, state: string): ServiceError {
  return new ServiceError("STATE_FORBIDS", message, { metadata: { resource: path, state } });
}
