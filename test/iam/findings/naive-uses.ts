// What is used, from what the lists of an org say and which calls were permitted: each role binding is asked by itself whether it gives a call its
// permission, and each membership whether it is on a way to such a binding.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { type Found, type OrgState, byId, createIsHeld, unusedMembers } from "./naive-findings.ts";

/** A call that was permitted. */
export interface PermittedCall {
  readonly memberPath: string;
  readonly permission: string;
  /** An org or a project. */
  readonly resourcePath: string;
  readonly timeMs: number;
}

const dayMs = 86_400_000;
const timeOf = (time: Timestamp | undefined, none: number): number => (time === undefined ? none : timestampMs(time));
const groupOf = (path: string): string => path.split("/").slice(0, 5).join("/");
const scopeOf = ({ path }: RoleBinding): string => path.slice(0, path.indexOf("/roleBindings/"));

/** What is in a group: a member or a group. */
interface Edge {
  readonly path: string;
  readonly inner: string;
  readonly outer: string;
  readonly endMs: number;
  readonly changedMs: number;
}

function edgesOf({ groupMembers, subgroups }: OrgState) {
  const memberships = groupMembers.map(({ path, memberPath, expireTime, updateTime }): Edge => ({
    path,
    inner: memberPath,
    outer: groupOf(path),
    endMs: timeOf(expireTime, Infinity),
    changedMs: timeOf(updateTime, 0),
  }));
  const nestings = subgroups.map(({ path, groupPath, updateTime }): Edge => ({
    path,
    inner: groupPath,
    outer: groupOf(path),
    endMs: Infinity,
    changedMs: timeOf(updateTime, 0),
  }));
  return { memberships, nestings };
}

/** Returns the begin of the last day on which each thing was used, by its path; of a permission of a role, by both. */
function lastUses(state: OrgState, calls: readonly PermittedCall[]): ReadonlyMap<string, number> {
  const { memberships, nestings } = edgesOf(state);
  const isHeld = createIsHeld(state);
  const last = new Map<string, number>();
  for (const { memberPath, permission, resourcePath, timeMs } of calls) {
    const day = Math.floor(timeMs / dayMs) * dayMs;
    const use = (key: string): void => void last.set(key, Math.max(day, last.get(key) ?? 0));
    use(memberPath);
    const edges = [...memberships, ...nestings].filter(({ endMs }) => timeMs < endMs);
    const leadsTo = (from: string, isWanted: (path: string) => boolean): boolean =>
      isWanted(from) || edges.some(({ inner, outer }) => inner === from && leadsTo(outer, isWanted));
    const gives = (binding: RoleBinding): boolean =>
      leadsTo(memberPath, (path) => path === binding.subjectPath) &&
      (resourcePath === scopeOf(binding) || resourcePath.startsWith(`${scopeOf(binding)}/`)) &&
      timeOf(binding.startTime, 0) <= timeMs &&
      timeMs < timeOf(binding.expireTime, Infinity) &&
      isHeld(binding.rolePath, permission);
    const all = state.bindings.filter(gives);
    const plain = all.filter(({ condition }) => condition === "");
    const giving = plain.length > 0 ? plain : all;
    for (const { path, rolePath } of giving) {
      use(path);
      use(`${rolePath} ${permission}`);
    }
    for (const { path, inner, outer } of edges) {
      const isReached = leadsTo(memberPath, (each) => each === inner);
      if (isReached && leadsTo(outer, (each) => giving.some(({ subjectPath }) => subjectPath === each))) use(path);
    }
  }
  return last;
}

/** Finds what the calls have not used for some days, in the order of the list. */
export function naiveUnused(
  state: OrgState,
  calls: readonly PermittedCall[],
  unusedDays: number,
  recordedSinceMs: number,
): readonly Found[] {
  const now = Date.now();
  const cutoff = now - unusedDays * dayMs;
  const firstDay = Math.floor(cutoff / dayMs) * dayMs;
  const last = lastUses(state, calls);
  const { memberships, nestings } = edgesOf(state);
  const isUnused = (key: string): boolean => (last.get(key) ?? 0) < firstDay;
  const sinceOf = (key: string, changedMs: number): number => last.get(key) ?? Math.max(changedMs, recordedSinceMs);
  const beginOf = ({ updateTime, startTime }: RoleBinding): number =>
    Math.max(timeOf(updateTime, 0), timeOf(startTime, 0));
  const olds = state.bindings.filter((each) => timeOf(each.expireTime, Infinity) > now && beginOf(each) < cutoff);
  const gives = (group: string): boolean =>
    olds.some(({ subjectPath }) => subjectPath === group) ||
    nestings.some(({ inner, outer, changedMs }) => inner === group && changedMs < cutoff && gives(outer));
  const unusedEdges = (kind: string, edges: readonly Edge[], order: ReadonlyMap<string, string>) =>
    edges
      .filter(
        ({ path, outer, endMs, changedMs }) => endMs > now && changedMs < cutoff && isUnused(path) && gives(outer),
      )
      .toSorted((one, other) => (keyOf(one, order) < keyOf(other, order) ? -1 : 1))
      .map(({ path, changedMs }): Found => [kind, path, "", sinceOf(path, changedMs)]);
  const order = new Map([...state.members, ...state.groups].map(({ path, id }) => [path, id]));
  return [
    ...unusedMembers(state, cutoff, (path) => last.get(path)),
    ...olds
      .toSorted(byId)
      .filter(({ path }) => isUnused(path))
      .map((each): Found => ["ROLE_BINDING_UNUSED", each.path, "", sinceOf(each.path, beginOf(each))]),
    ...unusedEdges("GROUP_MEMBER_UNUSED", memberships, order),
    ...unusedEdges("SUBGROUP_UNUSED", nestings, order),
    ...state.custom.toSorted(byId).flatMap(({ path, permissions, updateTime }): Found[] => {
      const changedMs = timeOf(updateTime, 0);
      const unused = permissions.filter((each) => isUnused(`${path} ${each}`)).toSorted();
      if (changedMs >= cutoff || unused.length === 0 || !olds.some(({ rolePath }) => rolePath === path)) return [];
      const since = Math.max(...unused.map((each) => sinceOf(`${path} ${each}`, changedMs)));
      return [["ROLE_PERMISSION_UNUSED", path, "", since, ...unused]];
    }),
  ];
}

function keyOf({ inner, outer }: Edge, order: ReadonlyMap<string, string>): string {
  return `${order.get(outer)} ${order.get(inner)}`;
}
