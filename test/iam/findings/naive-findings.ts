// Finds what the service should find, from what its lists say: every binding is compared with every other one, permission by permission.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Finding, Finding_Kind } from "../../../gen/iam/v1alpha/finding_pb.ts";
import { Member_State } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { required } from "../../../src/errors/required.ts";
import type { Api } from "../../support/api.ts";

/** What is compared of a finding. */
export type Found = readonly [
  kind: string,
  resourcePath: string,
  relatedPath: string,
  sinceMs: number | undefined,
  ...permissions: string[],
];

const kindNames: ReadonlyMap<number, string> = new Map(
  Object.entries(Finding_Kind).map(([name, kind]) => [kind, name]),
);

export const toFound = ({ kind, resourcePath, relatedPath, sinceTime, permissions }: Finding): Found => [
  kindNames.get(kind) ?? "",
  resourcePath,
  relatedPath,
  sinceTime && timestampMs(sinceTime),
  ...permissions,
];

const dayMs = 86_400_000;
const pageSize = 1_000;
const ofTime = (time: Timestamp | undefined): number => (time === undefined ? Infinity : timestampMs(time));
const sinceEver = (time: Timestamp | undefined): number => (time === undefined ? -Infinity : timestampMs(time));
export const byId = (one: { readonly id: string }, other: { readonly id: string }): number =>
  one.id < other.id ? -1 : 1;

/** Everything in an org that the findings follow from. */
export async function readOrg(api: Api, org: string) {
  const { members } = await api.members.listMembers({ parentPath: org, pageSize });
  const { apiKeys } = await api.apiKeys.listApiKeys({ parentPath: `${org}/members/-`, pageSize });
  const { sessions } = await api.sessions.listSessions({ parentPath: `${org}/members/-`, pageSize });
  const { groups } = await api.groups.listGroups({ parentPath: org, pageSize });
  const { members: groupMembers } = await api.groupMembers.listGroupMembers({
    parentPath: `${org}/groups/-`,
    pageSize,
  });
  const { subgroups } = await api.groupMembers.listSubgroups({ parentPath: `${org}/groups/-`, pageSize });
  const custom = (await api.roles.listRoles({ parentPath: org, pageSize })).roles;
  const predefined = (await api.roles.listRoles({ parentPath: "", pageSize })).roles;
  const bindings: RoleBinding[] = [];
  for (const parentPath of [org, `${org}/projects/-`]) {
    bindings.push(...(await api.roleBindings.listRoleBindings({ parentPath, pageSize })).roleBindings);
  }
  return { members, apiKeys, sessions, groups, groupMembers, subgroups, custom, predefined, bindings };
}

export type OrgState = Awaited<ReturnType<typeof readOrg>>;

/** In the order of the list. */
export async function naiveFindings(api: Api, org: string, unusedDays: number): Promise<readonly Found[]> {
  const state = await readOrg(api, org);
  const cutoff = Date.now() - unusedDays * dayMs;
  const members = state.members.toSorted(byId);
  const keys = members.flatMap(({ path }) =>
    state.apiKeys.filter((key) => key.path.startsWith(`${path}/`)).toSorted(byId),
  );
  const endless = keys.filter(({ expireTime }) => expireTime === undefined);
  const unused = keys.flatMap((key): Found[] => {
    const ofKey = state.sessions.filter(({ clientId }) => clientId === key.prefix);
    const uses = [key.lastUseTime, ...ofKey.map(({ refreshTime }) => refreshTime)].map(sinceEver);
    const last = Math.max(...uses);
    const since = last === -Infinity ? ofTime(key.createTime) : last;
    const isUnused = ofTime(key.createTime) < cutoff && last < cutoff;
    return isUnused ? [["API_KEY_UNUSED", key.path, "", since]] : [];
  });
  return [
    ...endless.map(({ path, createTime }): Found => ["API_KEY_WITHOUT_END", path, "", ofTime(createTime)]),
    ...unused,
    ...unusedMembers(state, cutoff, () => undefined),
    ...containedBindings(state),
    ...emptyGroups(state),
    ...state.custom
      .toSorted(byId)
      .filter(({ path }) => state.bindings.every(({ rolePath }) => rolePath !== path))
      .map(({ path }): Found => ["ROLE_UNBOUND", path, "", undefined]),
  ];
}

/** @param lastUseOf returns the begin of the day on which a check allowed a member something last, by its path. */
export function unusedMembers(
  state: OrgState,
  cutoff: number,
  lastUseOf: (path: string) => number | undefined,
): readonly Found[] {
  const firstDay = Math.floor(cutoff / dayMs) * dayMs;
  return state.members.toSorted(byId).flatMap((member): Found[] => {
    const isOf = ({ path }: { readonly path: string }): boolean => path.startsWith(`${member.path}/`);
    const times = [
      member.createTime,
      ...state.sessions.filter(isOf).flatMap(({ createTime, refreshTime }) => [createTime, refreshTime]),
      ...state.apiKeys.filter(isOf).map(({ lastUseTime }) => lastUseTime),
    ];
    const since = Math.max(...times.map(sinceEver));
    const lastDay = lastUseOf(member.path) ?? -Infinity;
    const isUnused = member.state === Member_State.ACTIVE && since < cutoff && lastDay < firstDay;
    return isUnused ? [["MEMBER_UNUSED", member.path, "", Math.max(since, lastDay)]] : [];
  });
}

function emptyGroups(state: OrgState): Found[] {
  const contents = (path: string): string[] => [
    ...state.groupMembers.filter((each) => each.path.startsWith(`${path}/`)).map(({ memberPath }) => memberPath),
    ...state.subgroups
      .filter((each) => each.path.startsWith(`${path}/`))
      .flatMap(({ groupPath }) => contents(groupPath)),
  ];
  return state.groups
    .toSorted(byId)
    .filter(({ path }) => state.bindings.some(({ subjectPath }) => subjectPath === path) && contents(path).length === 0)
    .map(({ path }): Found => ["GROUP_WITHOUT_MEMBERS", path, "", undefined]);
}

function containedBindings(state: OrgState): Found[] {
  const now = Date.now();
  const holds = createHolds(state);
  /** Until when a subject is, or is in, another one. */
  const isIn = (subject: string, other: string): number => {
    if (subject === other) return Infinity;
    const direct = state.groupMembers.filter(({ memberPath }) => memberPath === subject);
    const nested = state.subgroups.filter(({ groupPath }) => groupPath === subject);
    const groupOf = (path: string): string => path.split("/").slice(0, 5).join("/");
    return Math.max(
      -Infinity,
      ...direct.map(({ path, expireTime }) => Math.min(ofTime(expireTime), isIn(groupOf(path), other))),
      ...nested.map(({ path }) => isIn(groupOf(path), other)),
    );
  };
  const parentOf = (path: string): string => path.slice(0, path.indexOf("/roleBindings/"));
  const contains = (wide: RoleBinding, narrow: RoleBinding): boolean => {
    const [at, of] = [parentOf(wide.path), parentOf(narrow.path)];
    if (at !== of && !of.startsWith(`${at}/`)) return false;
    const end = Math.min(ofTime(wide.expireTime), isIn(narrow.subjectPath, wide.subjectPath));
    if (end === -Infinity || end < ofTime(narrow.expireTime)) return false;
    const [starts, begins] = [wide, narrow].map(({ startTime }) => Math.max(now, sinceEver(startTime)));
    if (required(starts) > required(begins)) return false;
    if (wide.condition !== "" && wide.condition !== narrow.condition) return false;
    return holds(wide.rolePath, narrow.rolePath);
  };
  const bindings = state.bindings.toSorted(byId);
  return bindings.flatMap((narrow): Found[] => {
    const wide = bindings.find(
      (other) => other !== narrow && contains(other, narrow) && (other.id < narrow.id || !contains(narrow, other)),
    );
    if (wide === undefined) return [];
    const since = Math.max(ofTime(wide.createTime), ofTime(narrow.createTime));
    return [["ROLE_BINDING_CONTAINED", narrow.path, wide.path, since]];
  });
}

const own = new Set(["iam", "resources"]);

const includes = (held: readonly string[], permission: string): boolean => {
  const [area = "", , verb = ""] = permission.split(".");
  if (held.includes(permission) || held.includes("*")) return true;
  return !own.has(area) && (held.includes("*.*.*") || held.includes(`*.*.${verb}`));
};

const permissionsOf = ({ custom, predefined }: OrgState): ReadonlyMap<string, readonly string[]> =>
  new Map([...custom, ...predefined].map(({ path, permissions }) => [path, permissions]));

/** Returns whether a role, by its path, holds a permission. */
export function createIsHeld(state: OrgState): (rolePath: string, permission: string) => boolean {
  const roles = permissionsOf(state);
  return (rolePath, permission) => includes(required(roles.get(rolePath)), permission);
}

/** Returns whether one role, by its path, holds all that another one does. */
function createHolds(state: OrgState): (wide: string, narrow: string) => boolean {
  const roles = permissionsOf(state);
  const named = [...roles.values()].flat().filter((permission) => !permission.includes("*"));
  // What only wildcards give stands for all else that they give.
  const all = [
    ...new Set([...named, "iam.others.get", "others.others.get", "others.others.list", "others.others.write"]),
  ];
  return (wide, narrow) => {
    const [held, needed] = [required(roles.get(wide)), required(roles.get(narrow))];
    return all.every((permission) => !includes(needed, permission) || includes(held, permission));
  };
}
