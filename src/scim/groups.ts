// Groups that the source has created, and who of its users is in them. Others who are in a group are neither seen nor removed.
import { sql } from "kysely";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { type ServiceError, notFound } from "../errors/service-error.ts";
import { groupCondition, isId } from "./conditions.ts";
import { notUnique, scimFault } from "./errors.ts";
import {
  type GroupMemberRow,
  type GroupRow,
  countGroups,
  findTakenOfGroups,
  listGroupMembers,
  listGroupRows,
  putGroup,
} from "./group-store.ts";
import { type Given, attributeOf } from "./json.ts";
import { type MemberChanges, createMemberChanges, maxMembers } from "./member-changes.ts";
import { type Operation, readOperations, unknownAttribute } from "./operations.ts";
import { type Scene, type WriteScene, groupPath, memberPath, orgPath } from "./scene.ts";
import { urns } from "./schemas.ts";
import { maxText } from "./user-attributes.ts";
import { type Page, findUserIds, isNameTaken } from "./user-store.ts";
import { distinct, fitDisplayName, maxDisplayName, readText, toName } from "./values.ts";

/** How many members a response has, in all its groups together. */
const maxShown = 10_000;

/** How many are added or removed by one call. */
const batchSize = 1_000;

export async function listGroups(scene: Scene, filter: string, page: Page, withMembers: boolean) {
  const where = groupCondition(filter);
  const total = await countGroups(scene.db, scene.source, where);
  const rows = page.limit === 0 ? [] : await listGroupRows(scene.db, scene.source, where, page);
  const resources = await showGroups(scene, rows, withMembers);
  if (resources === undefined) throw tooManyMembers();
  return { total, resources };
}

function tooManyMembers(): ServiceError {
  return scimFault("tooMany", `there are more than ${maxShown} members: ask with excludedAttributes=members`);
}

/** @throws ServiceError RESOURCE_NOT_FOUND, or FIELD_INVALID with `tooMany` */
export async function getGroup(scene: Scene, id: string, withMembers: boolean): Promise<object> {
  const [shown] = (await showGroups(scene, [await findGroup(scene, id)], withMembers)) ?? [];
  if (shown === undefined) throw tooManyMembers();
  return shown;
}

/** Returns a group that was changed; undefined if it has more members than a response. @throws ServiceError RESOURCE_NOT_FOUND */
export async function findChangedGroup(scene: Scene, id: string, withMembers: boolean): Promise<object | undefined> {
  const [shown] = (await showGroups(scene, [await findGroup(scene, id)], withMembers)) ?? [];
  return shown;
}

async function findGroup({ db, source }: Scene, id: string): Promise<GroupRow> {
  const found = isId(id)
    ? await listGroupRows(db, source, sql`scim_groups.group_id = ${id}`, { offset: 0, limit: 1 })
    : [];
  const [row] = found;
  if (row === undefined) throw notFound("group", id);
  return row;
}

/** Returns groups; undefined if they have more members together than a response. */
async function showGroups(
  scene: Scene,
  rows: readonly GroupRow[],
  withMembers: boolean,
): Promise<object[] | undefined> {
  const { db, source, base } = scene;
  if (!withMembers) return rows.map((row) => toGroup(row, undefined, base));
  const ids = rows.map(({ id }) => id);
  const members = await listGroupMembers(db, source, ids, undefined, maxShown + 1);
  if (members.length > maxShown) return undefined;
  const byGroup = Map.groupBy(members, ({ group_id }) => group_id);
  return rows.map((row) => toGroup(row, byGroup.get(row.id) ?? [], base));
}

function toGroup(row: GroupRow, members: readonly GroupMemberRow[] | undefined, base: string): object {
  const { id, display_name: displayName, external_id: externalId, create_time, update_time } = row;
  const meta = {
    resourceType: "Group",
    created: create_time.toISOString(),
    lastModified: update_time.toISOString(),
    location: `${base}/Groups/${id}`,
  };
  const shown = members?.map(({ member_id: value }) => ({ value, $ref: `${base}/Users/${value}` }));
  return {
    schemas: [urns.group],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(shown !== undefined && { members: shown }),
    meta,
  };
}

interface GroupState {
  readonly displayName: string;
  readonly externalId: string | undefined;
  readonly members: MemberChanges;
}

/** What a request says of a group. An attribute that is there and undefined is removed. */
interface Draft {
  displayName?: string | undefined;
  externalId?: string | undefined;
}

/** @throws ServiceError FIELD_INVALID */
function readGroup(body: Given): GroupState {
  const members = createMemberChanges();
  members.replaceBy(body);
  const displayName = readText(attributeOf(body, "displayName"), "displayName", maxDisplayName);
  const externalId = readText(attributeOf(body, "externalId"), "externalId", maxText);
  return complete({ displayName, externalId }, members.result());
}

/** Reads operations. Returns what they make of a group. @throws ServiceError FIELD_INVALID */
function readChange(body: Given): (row: GroupRow) => GroupState {
  const draft: Draft = {};
  const changes = createMemberChanges();
  for (const operation of readOperations(body, urns.group)) {
    if (operation.path.name === "members" && operation.path.schema === "") changes.apply(operation);
    else change(draft, operation);
  }
  const members = changes.result();
  return ({ display_name: displayName, external_id: externalId }) =>
    complete({ displayName, externalId: externalId ?? undefined, ...draft }, members);
}

/** @throws ServiceError FIELD_INVALID */
function complete({ displayName, externalId }: Draft, members: MemberChanges): GroupState {
  if (displayName === undefined) throw scimFault("invalidValue", "displayName is required");
  return { displayName, externalId, members };
}

const known = ["displayName", "externalId", "members"];

function change(draft: Draft, { verb, path, value: given }: Operation): void {
  const value = verb === "remove" ? undefined : given;
  if (["id", "meta", "schemas"].includes(path.name))
    throw scimFault("mutability", `${path.name} is set by the service`);
  if (path.schema !== "" || path.where !== undefined || path.part !== undefined) unknownAttribute(path, known);
  if (path.name === "displayname") draft.displayName = readText(value, "displayName", maxDisplayName);
  else if (path.name === "externalid") draft.externalId = readText(value, "externalId", maxText);
  else unknownAttribute(path, known);
}

/** Reads a group. Returns what creates it, and returns its id. */
export function createGroup(body: Given) {
  const state = readGroup(body);
  return async (scene: WriteScene): Promise<string> => {
    const { call, db, source } = scene;
    await requireUnique(scene, undefined, state);
    const wanted = toName(state.displayName, "group");
    const name = (await isNameTaken(db, source, "groups", wanted)) ? distinct(wanted) : wanted;
    const group = { name, displayName: fitDisplayName(state.displayName), labels: { "scim-source": source.name } };
    const { id } = await call(GroupsService.method.createGroup, { parentPath: orgPath(scene), group });
    await putGroup(db, source, scene.time, id, state);
    await applyMembers(scene, id, state.members);
    return id;
  };
}

export function replaceGroup(body: Given) {
  const state = readGroup(body);
  return async (scene: WriteScene, id: string): Promise<void> => changeGroup(scene, await findGroup(scene, id), state);
}

export function patchGroup(body: Given) {
  const after = readChange(body);
  return async (scene: WriteScene, id: string): Promise<void> => {
    const row = await findGroup(scene, id);
    await changeGroup(scene, row, after(row));
  };
}

async function changeGroup(scene: WriteScene, row: GroupRow, state: GroupState): Promise<void> {
  const { call, db, source } = scene;
  const path = groupPath(scene, row.id);
  await requireUnique(scene, row.id, state);
  const displayName = fitDisplayName(state.displayName);
  if (displayName !== fitDisplayName(row.display_name)) {
    await call(GroupsService.method.updateGroup, {
      path,
      group: { displayName },
      updateMask: { paths: ["display_name"] },
    });
  }
  await putGroup(db, source, scene.time, row.id, state);
  await applyMembers(scene, row.id, state.members);
}

/** Adds members before it removes others: a group that holds `owner` may be left without one meanwhile otherwise. */
async function applyMembers(scene: WriteScene, id: string, changes: MemberChanges): Promise<void> {
  const { isReplaced, added, removed } = changes;
  const { call, db, source } = scene;
  const asked = isReplaced ? undefined : [...added, ...removed];
  if (asked?.length === 0) return;
  // Of a group that is replaced, more cannot leave and stay by one request. Of those who are asked about, each has one row.
  const limit = asked?.length ?? 2 * maxMembers + 1;
  const rows = await listGroupMembers(db, source, [id], asked, limit);
  const endingOf = new Map(rows.map(({ member_id, ends }) => [member_id, ends]));
  // Who is in it until a time, which somebody has set by hand, is to stay.
  const joining = [...added].filter((each) => endingOf.get(each) !== false);
  const renewed = joining.filter((each) => endingOf.has(each));
  const leaving = [...endingOf.keys()].filter((each) => (isReplaced ? !added.has(each) : removed.has(each)));
  if (joining.length + leaving.length > maxMembers) {
    throw scimFault("tooMany", `a request can add and remove at most ${maxMembers} members; send several`);
  }
  const users = await findUserIds(db, source, joining);
  const unknown = joining.find((each) => !users.has(each));
  if (unknown !== undefined) throw scimFault("invalidValue", `members: there is no user ${unknown}`);
  const parentPath = groupPath(scene, id);
  const remove = async (ids: readonly string[]): Promise<void> => {
    for (const some of batches(ids)) {
      const paths = some.map((each) => `${parentPath}/members/@${each}`);
      await call(GroupMembersService.method.batchDeleteGroupMembers, { parentPath, paths });
    }
  };
  await remove(renewed);
  for (const some of batches(joining)) {
    const requests = some.map((each) => ({ parentPath, groupMember: { memberPath: memberPath(scene, each) } }));
    await call(GroupMembersService.method.batchCreateGroupMembers, { parentPath, requests });
  }
  await remove(leaving);
}

function batches(ids: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(ids.length / batchSize);
  return Array.from({ length: count }, (_, index) => ids.slice(index * batchSize, (index + 1) * batchSize));
}

export async function deleteGroup(scene: WriteScene, id: string): Promise<void> {
  const row = await findGroup(scene, id);
  await scene.call(GroupsService.method.deleteGroup, { path: groupPath(scene, row.id) });
}

async function requireUnique({ db, source }: Scene, groupId: string | undefined, state: GroupState): Promise<void> {
  const taken = await findTakenOfGroups(db, source, groupId, state);
  if (taken !== undefined) throw notUnique(`another group of this source has the ${taken} ${state[taken] ?? ""}`);
}
