// Users: members of type USER that the source has created.
import { sql } from "kysely";
import { IdentitiesService } from "../../gen/iam/v1alpha/identity_pb.ts";
import { Member_Type, MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import type { UserAttributes } from "../database/scim-tables.ts";
import { required } from "../errors/required.ts";
import { notFound } from "../errors/service-error.ts";
import { formatPath } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { findEmailProblem } from "../validation/email-address.ts";
import { isId, userCondition } from "./conditions.ts";
import { requireFewEmails } from "./emails.ts";
import { notUnique, scimFault } from "./errors.ts";
import { type Given } from "./json.ts";
import { readOperations } from "./operations.ts";
import { type Scene, type WriteScene, memberPath, orgPath } from "./scene.ts";
import { urns } from "./schemas.ts";
import type { Source } from "./source.ts";
import { type UserState, displayedName, mainEmail, applyToUser, readUser } from "./user-attributes.ts";
import {
  type Page,
  type UserRow,
  countUsers,
  findDeletedUsers,
  findIdentityIds,
  findTaken,
  forgetUsers,
  isNameTaken,
  listUserRows,
  putUser,
} from "./user-store.ts";
import { distinct, fitDisplayName, toName } from "./values.ts";

export async function listUsers({ db, source, base }: Scene, filter: string, page: Page) {
  const where = userCondition(filter);
  const total = await countUsers(db, source, where);
  const rows = page.limit === 0 ? [] : await listUserRows(db, source, where, page);
  return { total, resources: rows.map((row) => toUser(row, base)) };
}

/** @throws ServiceError RESOURCE_NOT_FOUND */
export const getUser = async (scene: Scene, id: string): Promise<object> =>
  toUser(await findUser(scene, id), scene.base);

async function findUser({ db, source }: Scene, id: string): Promise<UserRow> {
  const found = isId(id)
    ? await listUserRows(db, source, sql`scim_users.member_id = ${id}`, { offset: 0, limit: 1 })
    : [];
  const [row] = found;
  if (row === undefined) throw notFound("user", id);
  return row;
}

function toUser({ id, state, attributes, create_time, update_time }: UserRow, base: string): object {
  const meta = {
    resourceType: "User",
    created: create_time.toISOString(),
    lastModified: update_time.toISOString(),
    location: `${base}/Users/${id}`,
  };
  return { schemas: [urns.user], id, ...attributes, active: state === "ACTIVE", meta };
}

/** Reads a user. Returns what creates the member, its identity, and what the source says of it, and returns its id. */
export function createUser(body: Given) {
  const { active = true, ...attributes } = readUser(body);
  return async (scene: WriteScene): Promise<string> => {
    const { call, db, source } = scene;
    const subject = subjectOf(source, attributes);
    await requireUnique(scene, undefined, attributes, subject);
    const [local = ""] = attributes.userName.split("@");
    const wanted = toName(local, "user");
    const name = (await isNameTaken(db, source, "members", wanted)) ? distinct(wanted) : wanted;
    const member = { name, type: Member_Type.USER, labels: { "scim-source": source.name }, ...fieldsOf(attributes) };
    const { id } = await call(MembersService.method.createMember, { parentPath: orgPath(scene), member });
    if (subject !== undefined) await link(scene, id, subject);
    if (!active) await call(MembersService.method.suspendMember, { path: memberPath(scene, id) });
    await putUser(db, source, scene.time, id, attributes, displayedName(attributes));
    return id;
  };
}

/** Returns the subject of a person at the identity provider of a source; undefined for a source without one. */
function subjectOf({ providerId, subject: kind }: Source, attributes: UserAttributes): string | undefined {
  if (providerId === null) return undefined;
  const subject = kind === "USER_NAME" ? attributes.userName : attributes.externalId;
  if (subject !== undefined) return subject;
  throw scimFault("invalidValue", "externalId is required: it is the subject of the person at the identity provider");
}

/** Lets the person sign in as the member. Only here, where the member holds nothing yet: later, it would take over what it holds. */
async function link(scene: WriteScene, id: string, subject: string): Promise<void> {
  const { providerId, orgId, name } = scene.source;
  const identityProviderPath = formatPath(patterns.IdentityProvider, `@${orgId}`, `@${providerId ?? ""}`);
  const identity = { name, identityProviderPath, subject };
  await scene.call(IdentitiesService.method.createIdentity, { parentPath: memberPath(scene, id), identity });
}

export function replaceUser(body: Given) {
  const after = readUser(body);
  return async (scene: WriteScene, id: string): Promise<void> => changeUser(scene, await findUser(scene, id), after);
}

export function patchUser(body: Given) {
  const operations = readOperations(body, urns.user);
  requireFewEmails(operations);
  return async (scene: WriteScene, id: string): Promise<void> => {
    const row = await findUser(scene, id);
    await changeUser(scene, row, applyToUser(row.attributes, operations));
  };
}

async function changeUser(scene: WriteScene, row: UserRow, after: UserState): Promise<void> {
  const { call, db, source } = scene;
  const { active, ...attributes } = after;
  const path = memberPath(scene, row.id);
  await requireUnique(scene, row.id, attributes);
  const [before, now] = [fieldsOf(row.attributes), fieldsOf(attributes)];
  const paths = [
    ...(before.displayName === now.displayName ? [] : ["display_name"]),
    ...(before.email === now.email ? [] : ["email"]),
  ];
  if (paths.length > 0) await call(MembersService.method.updateMember, { path, member: now, updateMask: { paths } });
  await putUser(db, source, scene.time, row.id, attributes, displayedName(attributes));
  if (active === false && row.state !== "SUSPENDED") await call(MembersService.method.suspendMember, { path });
  if (active === true && row.state === "SUSPENDED") await call(MembersService.method.activateMember, { path });
}

export async function deleteUser(scene: WriteScene, id: string): Promise<void> {
  const { call, db, source } = scene;
  const row = await findUser(scene, id);
  const path = memberPath(scene, row.id);
  await removeIdentities(scene, row.id);
  await call(MembersService.method.deleteMember, { path });
  await forgetUsers(db, source, [row.id]);
}

/**
 * Removes all identities of a deleted user, whoever has made them. Otherwise the person could not be created again, since a subject is that
 * of one member; and who undeletes the member would let somebody sign in who is out.
 */
async function removeIdentities(scene: WriteScene, id: string): Promise<void> {
  const path = memberPath(scene, id);
  for (const identity of await findIdentityIds(scene.db, scene.source, id)) {
    await scene.call(IdentitiesService.method.deleteIdentity, { path: `${path}/identities/@${identity}` });
  }
}

/** Returns the fields of the member. An address that a member cannot have is only kept as one of the user. */
function fieldsOf(attributes: UserAttributes): { readonly displayName: string; readonly email: string } {
  const email = mainEmail(attributes);
  const isAccepted = email !== undefined && findEmailProblem(email) === undefined;
  return { displayName: fitDisplayName(displayedName(attributes)), email: isAccepted ? required(email) : "" };
}

/** @param subject that the user is to have at the identity provider; undefined for none. */
async function requireUnique(
  scene: WriteScene,
  memberId: string | undefined,
  attributes: UserAttributes,
  subject?: string,
): Promise<void> {
  const { db, source } = scene;
  // Somebody whom another one has deleted is not there for the directory, and what it had is free.
  const deleted = await findDeletedUsers(db, source, attributes, subject);
  for (const id of deleted) await removeIdentities(scene, id);
  if (deleted.length > 0) await forgetUsers(db, source, deleted);
  const taken = await findTaken(db, source, memberId, attributes);
  if (taken !== undefined) throw notUnique(`another user of this source has the ${taken} ${String(attributes[taken])}`);
}
