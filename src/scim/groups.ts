// Groups that the source has created, and who of its users is in them. Others who are in a group are neither seen nor removed.
import { sql } from "kysely";
import { GroupMembersService } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../gen/iam/v1alpha/group_pb.ts";
import { notFound } from "../errors/service-error.ts";
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
import { type MemberChanges, changeMembers, maxMembers, replaceWith, unchanged } from "./member-changes.ts";
import { type Operation, readOperations, unknownAttribute } from "./operations.ts";
import { type Scene, type WriteScene, groupPath, memberPath, orgPath } from "./scene.ts";
import { urns } from "./schemas.ts";
import { maxText } from "./user-attributes.ts";
import { type Page, findUserIds, isNameTaken } from "./user-store.ts";
import { distinct, fitDisplayName, readText, toName } from "./values.ts";

/** How many members a response has. */
const maxShown = 10_000;

/** How many are added or removed by one call. */
const batchSize = 1_000;

export async function listGroups(scene: Scene, filter: string, page: Page, withMembers: boolean) {
  const where = groupCondition(filter);
  const total = await countGroups(scene.db, scene.source, where);
  const rows = page.limit === 0 ? [] : await listGroupRows(scene.db, scene.source, where, page);
  return { total, resources: await showGroups(scene, rows, withMembers) };
}

/** @throws ServiceError RESOURCE_NOT_FOUND */
export async function getGroup(scene: Scene, id: string, withMembers: boolean): Promise<object> {
  const [shown] = await showGroups(scene, [await findGroup(scene, id)], withMembers);
  return shown ?? {};
}

async function findGroup({ db, source }: Scene, id: string): Promise<GroupRow> {
  const found = isId(id)
    ? await listGroupRows(db, source, sql`scim_groups.group_id = ${id}`, { offset: 0, limit: 1 })
    : [];
  const [row] = found;
  if (row === undefined) throw notFound("group", id);
  return row;
}

/** @throws ServiceError FIELD_INVALID with `tooMany` */
async function showGroups(scene: Scene, rows: readonly GroupRow[], withMembers: boolean): Promise<object[]> {
  const { db, source, base } = scene;
  if (!withMembers) return rows.map((row) => toGroup(row, undefined, base));
  const ids = rows.map(({ id }) => id);
  const members = await listGroupMembers(db, source, ids, undefined, maxShown + 1);
  if (members.length > maxShown) {
    throw scimFault("tooMany", `there are more than ${maxShown} members: ask with excludedAttributes=members`);
  }
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

const maxDisplayName = 512;

/** @throws ServiceError FIELD_INVALID */
function readGroup(body: Given): GroupState {
  return complete({
    displayName: readText(attributeOf(body, "displayName"), "displayName", maxDisplayName),
    externalId: readText(attributeOf(body, "externalId"), "externalId", maxText),
    members: replaceWith(body),
  });
}

interface Draft {
  displayName: string | undefined;
  externalId: string | undefined;
  members: MemberChanges;
}

function complete({ displayName, externalId, members }: Draft): GroupState {
  if (displayName === undefined) throw scimFault("invalidValue", "displayName is required");
  return { displayName, externalId, members };
}

const known = ["displayName", "externalId", "members"];

function change(draft: Draft, operation: Operation): void {
  const { verb, path } = operation;
  const value = verb === "remove" ? undefined : operation.value;
  if (["id", "meta", "schemas"].includes(path.name))
    throw scimFault("mutability", `${path.name} is set by the service`);
  if (path.schema !== "") unknownAttribute(path, known);
  if (path.name === "members") {
    draft.members = changeMembers(draft.members, operation);
    return;
  }
  if (path.where !== undefined || path.part !== undefined) unknownAttribute(path, known);
  if (path.name === "displayname") draft.displayName = readText(value, "displayName", maxDisplayName);
  else if (path.name === "externalid") draft.externalId = readText(value, "externalId", maxText);
  else unknownAttribute(path, known);
}

/** Creates a group, and returns its id. */
export async function createGroup(scene: WriteScene, body: Given): Promise<string> {
  const { call, db, source } = scene;
  const state = readGroup(body);
  await requireUnique(scene, undefined, state);
  const wanted = toName(state.displayName, "group");
  const name = (await isNameTaken(db, source, "groups", wanted)) ? distinct(wanted) : wanted;
  const group = { name, displayName: fitDisplayName(state.displayName), labels: { "scim-source": source.name } };
  const { id } = await call(GroupsService.method.createGroup, { parentPath: orgPath(scene), group });
  await putGroup(db, source, scene.time, id, state);
  await applyMembers(scene, id, state.members);
  return id;
}

export async function replaceGroup(scene: WriteScene, id: string, body: Given): Promise<void> {
  await changeGroup(scene, await findGroup(scene, id), readGroup(body));
}

export async function patchGroup(scene: WriteScene, id: string, body: Given): Promise<void> {
  const row = await findGroup(scene, id);
  const draft: Draft = {
    displayName: row.display_name,
    externalId: row.external_id ?? undefined,
    members: unchanged,
  };
  for (const operation of readOperations(body, urns.group)) change(draft, operation);
  await changeGroup(scene, row, complete(draft));
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
async function applyMembers(
  scene: WriteScene,
  id: string,
  { isReplaced, added, removed }: MemberChanges,
): Promise<void> {
  const { call, db, source } = scene;
  const asked = isReplaced ? undefined : [...added, ...removed];
  if (asked?.length === 0) return;
  const rows = await listGroupMembers(db, source, [id], asked, 2 * maxMembers + 1);
  const inside = new Set(rows.map(({ member_id }) => member_id));
  const joining = [...added].filter((each) => !inside.has(each));
  const leaving = [...inside].filter((each) => (isReplaced ? !added.has(each) : removed.has(each)));
  if (joining.length + leaving.length > maxMembers) {
    throw scimFault("tooMany", `a request can add and remove at most ${maxMembers} members; send several`);
  }
  const users = await findUserIds(db, source, joining);
  const unknown = joining.find((each) => !users.has(each));
  if (unknown !== undefined) throw scimFault("invalidValue", `members: there is no user ${unknown}`);
  const parentPath = groupPath(scene, id);
  for (const some of batches(joining)) {
    const requests = some.map((each) => ({ parentPath, groupMember: { memberPath: memberPath(scene, each) } }));
    await call(GroupMembersService.method.batchCreateGroupMembers, { parentPath, requests });
  }
  for (const some of batches(leaving)) {
    const paths = some.map((each) => `${parentPath}/members/@${each}`);
    await call(GroupMembersService.method.batchDeleteGroupMembers, { parentPath, paths });
  }
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
