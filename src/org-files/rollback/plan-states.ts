// Plans the states of members and projects. Nothing in a suspended project can be changed, so one in which something changes is active
// meanwhile.
import type { PlannedChange } from "../planned-change.ts";
import { type Remark, stateOf } from "./find-wanted.ts";
import type { SideResource } from "./read-sides.ts";
import type { Contents, RollbackState } from "./rollback-state.ts";

interface States {
  readonly activations: readonly PlannedChange[];
  readonly suspensions: readonly PlannedChange[];
  /** What stays in another state than it was. */
  readonly remarks: readonly Remark[];
}

export function planStates(state: RollbackState, { changedProjects }: Pick<Contents, "changedProjects">): States {
  const { wanted, standing, removed } = state;
  const activations: PlannedChange[] = [];
  const suspensions: PlannedChange[] = [];
  const remarks: Remark[] = [];
  for (const [path, present] of standing) {
    const { type, id } = present;
    if ((type !== "member" && type !== "project") || removed.has(path)) continue;
    const [from, to] = [stateOf(present), stateOf(wanted.get(path) ?? present)];
    const remark = findRemark(state, present, to);
    if (remark !== undefined) remarks.push({ path, text: remark });
    const end = remark === undefined ? to : from;
    const isOpened = from === "SUSPENDED" && (end === "ACTIVE" || changedProjects.has(id));
    if (isOpened || (from === "INVITED" && end === "ACTIVE")) activations.push(changeOf(state, present, "activate"));
    if (end === "SUSPENDED" && (isOpened || from === "ACTIVE")) suspensions.push(changeOf(state, present, "suspend"));
  }
  return { activations, suspensions, remarks };
}

/** Returns why something does not get back the state that it had. */
function findRemark({ isProtected }: RollbackState, present: SideResource, to: string): string | undefined {
  const from = stateOf(present);
  if (from === to) return undefined;
  if (to === "INVITED") return `was INVITED, and stays ${from}`;
  if (to !== "SUSPENDED") return undefined;
  if (from === "INVITED") return "was SUSPENDED, and stays INVITED";
  return isProtected(present) ? `was SUSPENDED, and stays ${from}: the caller and owners do` : undefined;
}

function changeOf(
  { shown }: RollbackState,
  { type, path }: SideResource,
  action: "activate" | "suspend",
): PlannedChange {
  const nothing = { message: undefined, sent: undefined, place: "", fields: [] };
  return { action, type, path: shown(path), callPath: path, ...nothing };
}
