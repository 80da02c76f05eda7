// An org whose findings are left to chance: what it grants to whom, for how long, and when what was used.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { v7 as uuidv7 } from "uuid";
import { required } from "../../../src/errors/required.ts";
import { type Api, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import type { SqlClient } from "../../support/sql.ts";

const dayMs = 86_400_000;

const conditions = ["", "", "", 'resource.path != "/orgs/x"', 'subject.type == "member"'];

/** Permissions of which predefined roles hold some, all or none. */
const permissions = [
  "iam.access.check",
  "iam.access.list",
  "iam.members.get",
  "iam.members.list",
  "iam.orgs.delete",
  "compute.instances.get",
  "compute.instances.list",
  "compute.instances.start",
];

const predefined = ["viewer", "editor", "owner", "access-checker", "groups-admin"].map((name) => `/roles/${name}`);

const chance = (share: number): boolean => Math.random() < share;
const pick = <Each>(from: readonly Each[]): Each => required(from[Math.floor(Math.random() * from.length)]);
/** Some of the times are the same. */
const later = () => timestampFromMs(Date.UTC(2100, Math.floor(Math.random() * 3)));

/** @returns the path of the org. */
export async function makeRandomOrg(api: Api, sql: SqlClient): Promise<string> {
  const { path: org, id: orgId } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const many = <Request>(count: number, request: (index: number) => Request): Request[] =>
    Array.from({ length: count }, (_, index) => request(index));
  const pathsOf = (some: readonly { readonly path: string }[]): string[] => some.map(({ path }) => path);
  const parentPath = org;
  const ofMembers = many(8, () => ({ member: { name: uniqueName("m") } }));
  const members = pathsOf((await api.members.batchCreateMembers({ parentPath, requests: ofMembers })).members);
  const ofKeys = members.flatMap((path, member) =>
    many(member % 3, () => ({
      parentPath: path,
      apiKey: { name: uniqueName("k"), expireTime: chance(0.5) ? later() : undefined },
    })),
  );
  await api.apiKeys.batchCreateApiKeys({ parentPath: `${org}/members/-`, requests: ofKeys });
  const ofGroups = many(7, () => ({ group: { name: uniqueName("g") } }));
  const groups = pathsOf((await api.groups.batchCreateGroups({ parentPath, requests: ofGroups })).groups);
  // Two groups have no members of their own.
  for (let index = 0; index < 9; index++) {
    const groupMember = { memberPath: pick(members), expireTime: chance(0.5) ? later() : undefined };
    await unlessRefused(api.groupMembers.createGroupMember({ parentPath: pick(groups.slice(2)), groupMember }));
  }
  for (let index = 0; index < 8; index++) {
    const subgroup = { groupPath: pick(groups) };
    await unlessRefused(api.groupMembers.createSubgroup({ parentPath: pick(groups.slice(1)), subgroup }));
  }
  const ofRoles = many(5, () => ({
    role: { name: uniqueName("r"), permissions: permissions.filter(() => chance(0.5)) },
  }));
  const roles = pathsOf((await api.roles.batchCreateRoles({ parentPath, requests: ofRoles })).roles);
  const ofProjects = many(2, () => ({ project: { name: uniqueName("p") } }));
  const { projects } = await api.projects.batchCreateProjects({ parentPath, requests: ofProjects });
  for (const scope of [org, ...pathsOf(projects), org]) {
    const requests = many(12, () => ({
      roleBinding: {
        name: uniqueName("b"),
        rolePath: pick(chance(0.5) ? predefined : roles.slice(1)),
        subjectPath: pick(chance(0.5) ? members.slice(0, 3) : groups),
        condition: pick(conditions),
        expireTime: chance(0.4) ? later() : undefined,
        startTime: chance(0.2) ? timestampFromMs(Date.UTC(2090, Math.floor(Math.random() * 2))) : undefined,
      },
    }));
    await api.roleBindings.batchCreateRoleBindings({ parentPath: scope, requests });
  }
  await useAtRandom(sql, orgId);
  return org;
}

/** What others have written may forbid a write: the same membership, or a cycle of groups. */
async function unlessRefused(write: Promise<unknown>): Promise<void> {
  await write.catch(() => failureOf(write));
}

/** Makes everything older, and lets some of it have been used. */
async function useAtRandom(sql: SqlClient, orgId: string): Promise<void> {
  const aged = `create_time - make_interval(days => (random() * 100)::integer, secs => random())`;
  for (const table of ["members", "api_keys"]) {
    await sql.query(`update ${table} set create_time = ${aged} where org_id = $1`, [orgId]);
  }
  await sql.query(
    `update api_keys set last_use_time = create_time + (now() - create_time) * random() where org_id = $1 and random() < 0.5`,
    [orgId],
  );
  const members = await sql.query("select customer_id, id, create_time from members where org_id = $1", [orgId]);
  const keys = await sql.query("select member_id, id, prefix from api_keys where org_id = $1", [orgId]);
  for (const member of members.filter(() => chance(0.5))) {
    const key = keys.find((each) => each["member_id"] === member["id"]);
    const begins = new Date(Date.now() - Math.random() * 100 * dayMs);
    const refreshed = chance(0.5) ? new Date((begins.getTime() + Date.now()) / 2) : null;
    await sql.query(
      `insert into sessions (customer_id, org_id, member_id, id, client_id, api_key_id, user_agent, refresh_time, create_time, expire_time,
        changed_revision) values ($1, $2, $3, $4, $5, $6, '', $7, $8, now() + interval '1 day', $4)`,
      [
        member["customer_id"],
        orgId,
        member["id"],
        uuidv7(),
        key?.["prefix"] ?? "browser",
        key?.["id"] ?? null,
        refreshed,
        begins,
      ],
    );
  }
}
