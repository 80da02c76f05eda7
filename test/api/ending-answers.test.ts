// Answers with what ends by itself are used again until it ends, by the database's clock, on every server.
import { setTimeout as sleep } from "node:timers/promises";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";

let one: SharedServer;
let other: SharedServer;
let sql: SqlClient;
let writer: Api;
let readers: readonly Api[];
let parentPath: string;

beforeAll(async () => {
  one = await sharedServer();
  other = await secondSharedServer();
  sql = await openSqlClient(one.databaseUrl);
  writer = createApi("gRPC", one.url, one.operatorKey);
  ({ path: parentPath } = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } }));
  const { path } = await writer.members.createMember({ parentPath, member: { name: "reader", type: 2 } });
  await writer.roleBindings.createRoleBinding({
    parentPath,
    roleBinding: { name: "reader", rolePath: "/roles/viewer", subjectPath: path },
  });
  const { secret } = await writer.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "reader" } });
  readers = [writer, createApi("Connect", other.url, one.operatorKey), createApi("REST", other.url, secret)];
});

afterAll(async () => {
  await sql.close();
});

/** How long what the tests create stays. A slow machine needs the longer ones to read it often enough before its end. */
const livesMs = [6_000, 24_000, 96_000];
const betweenMs = 25;

const databaseTime = async (): Promise<number> => {
  const [row] = await sql.query("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  return Number(row?.["now"]);
};

interface Ending {
  readonly table: string;
  readonly path: string;
  readonly get: (api: Api) => Promise<object>;
  readonly list: (api: Api, page: { pageSize: number; pageToken?: string }) => Promise<Listed>;
}

interface Listed {
  readonly paths: readonly string[];
  readonly nextPageToken: string;
}

/** Creates two of what does not end, and then one that does. */
const kinds = {
  async membership(endTime: number): Promise<Ending> {
    const group = { name: uniqueName("group") };
    const { path: groupPath } = await writer.groups.createGroup({ parentPath, group });
    const add = async (expireTime?: number) => {
      const { path: memberPath } = await writer.members.createMember({ parentPath, member: { name: uniqueName("m") } });
      return writer.groupMembers.createGroupMember({
        parentPath: groupPath,
        groupMember: { memberPath, ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }) },
      });
    };
    await add();
    await add();
    const { path } = await add(endTime);
    return {
      table: "group_members",
      path,
      get: (api) => api.groupMembers.getGroupMember({ path }),
      async list(api, page) {
        const { members, nextPageToken } = await api.groupMembers.listGroupMembers({
          parentPath: groupPath,
          ...page,
        });
        return { paths: members.map((each) => each.path), nextPageToken };
      },
    };
  },

  async "role binding"(endTime: number): Promise<Ending> {
    const { path: projectPath } = await writer.projects.createProject({
      parentPath,
      project: { name: uniqueName("project") },
    });
    const subjectPath = `${parentPath}/members/reader`;
    const add = (expireTime?: number) =>
      writer.roleBindings.createRoleBinding({
        parentPath: projectPath,
        roleBinding: {
          name: uniqueName("binding"),
          rolePath: "/roles/viewer",
          subjectPath,
          ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
        },
      });
    await add();
    await add();
    const { path } = await add(endTime);
    return {
      table: "role_bindings",
      path,
      get: (api) => api.roleBindings.getRoleBinding({ path }),
      async list(api, page) {
        const { roleBindings, nextPageToken } = await api.roleBindings.listRoleBindings({
          parentPath: projectPath,
          ...page,
        });
        return { paths: roleBindings.map((each) => each.path), nextPageToken };
      },
    };
  },
} satisfies Record<string, (endTime: number) => Promise<Ending>>;

test.each(Object.entries(kinds))("a %s is in answers until it ends", async (_kind, create) => {
  for (const lifeMs of livesMs) if (await readUntilItEnds(create, lifeMs)) return;
  expect.unreachable("it was not read often enough before it ended");
});

/** Returns whether it was read often enough before its end, and then without the service knowing of its end. */
async function readUntilItEnds(create: (endTime: number) => Promise<Ending>, lifeMs: number): Promise<boolean> {
  const endTime = Math.ceil(await databaseTime()) + lifeMs;
  const { table, path, get, list } = await create(endTime);
  const counts = { before: 0, after: 0 };
  let marked = 0;
  while (counts.after < 20) {
    await sleep(betweenMs);
    for (const api of readers) {
      const before = await databaseTime();
      const all = await list(api, { pageSize: 10 });
      // What is on the next page decides whether there is one.
      const first = await list(api, { pageSize: 2 });
      const found = await failureOf(get(api)).then(
        () => undefined,
        () => path,
      );
      const after = await databaseTime();
      if (after < endTime) {
        counts.before++;
        expect(all.paths).toHaveLength(3);
        expect(all.paths).toContain(path);
        expect(first.nextPageToken).not.toBe("");
        expect(found).toBe(path);
      } else if (before >= endTime) {
        counts.after++;
        expect(all.paths).toHaveLength(2);
        expect(first.nextPageToken).toBe("");
        expect(found).toBeUndefined();
      }
    }
    // Past the service: what is in memory does not show that it is gone.
    if (marked === 0 && counts.before >= 3 * readers.length) {
      marked = counts.before;
      await sql.query(`update ${table} set expire_time = now() where expire_time = to_timestamp($1::float8 / 1000)`, [
        endTime,
      ]);
    }
  }
  return marked > 0 && counts.before > marked;
}
