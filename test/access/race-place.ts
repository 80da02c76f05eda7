// Two server processes on one database, for tests that compare their decisions. One of them reads with a delay, so that its
// data is old when it arrives.
import { Code, ConnectError } from "@connectrpc/connect";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type AccessClient, createAccessClient } from "../support/access-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { openDistantDatabase } from "./distant-database.ts";

/** The permission that the tests check. Unlike reading a project, it is denied while the project is suspended. */
export const listBindings = "iam.roleBindings.list";

const distanceMs = 6;

export interface RaceServer {
  readonly url: string;
  /** The client of the operator. */
  readonly api: Api;
  readonly access: AccessClient;
}

export interface RaceServers {
  readonly servers: readonly [RaceServer, RaceServer];
  /** Waits until this time by the clock of the database. */
  waitUntil(time: Date): Promise<void>;
  close(): Promise<void>;
}

export async function startRaceServers(): Promise<RaceServers> {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tenantry-races-"));
  const distant = await openDistantDatabase(database.url, distanceMs);
  const keys = await writeSecretKeys(directory);
  const serve = (name: string, databaseUrl: string): Promise<Served> => {
    const data = { TENANTRY_DATA: join(directory, name), TENANTRY_SECRET_KEYS_FILE: keys };
    return serveTenantry({ cwd: directory, env: { DATABASE_URL: databaseUrl, ...data, TENANTRY_ACCESS_LOG: "off" } });
  };
  // The first server creates the operator.
  const first = await serve("first", database.url);
  const second = await serve("second", distant.url).catch(async (error: unknown) => {
    await first.signal("SIGKILL");
    throw error;
  });
  const operatorKey = (await readFile(join(directory, "first", "operator-key"), "utf8")).trim();
  const pool = new pg.Pool({ connectionString: database.url, max: 8 });
  // A pool ends before its connections have, which then may hear that the database is dropped.
  pool.on("error", () => {});
  const connect = ({ url }: Served): RaceServer => ({
    url,
    api: createApi("gRPC", url, operatorKey),
    access: createAccessClient("gRPC", url, operatorKey),
  });
  return {
    servers: [connect(first), connect(second)],
    async waitUntil(time) {
      await pool.query("select pg_sleep_until($1)", [time]);
    },
    async close() {
      await Promise.all([first.signal("SIGTERM"), second.signal("SIGTERM")]);
      await Promise.all([pool.end(), distant.close()]);
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** An org with the member alice, who has no access, and the resources through which she can get it. All fields are paths. */
export interface RacePlace {
  readonly org: string;
  readonly alice: string;
  readonly web: string;
  /** A custom role with the permission. */
  readonly reader: string;
  /** A group without members that has this role on the project. */
  readonly bound: string;
  /** A group that contains alice through two nested groups. */
  readonly outer: string;
  /** Checks whether alice has the permission on a path. */
  isAllowed(server: RaceServer, resourcePath: string): Promise<boolean>;
  /** Calls the method that requires the permission, with alice's key. */
  isLetIn(server: RaceServer, parentPath: string): Promise<boolean>;
}

export async function createRacePlace({ api }: RaceServer): Promise<RacePlace> {
  const { path: org } = await api.orgs.createOrg({ org: { name: uniqueName("race") } });
  const { path: alice } = await api.members.createMember({ parentPath: org, member: { name: "alice" } });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "own" } });
  const { path: web } = await api.projects.createProject({ parentPath: org, project: { name: "web" } });
  const permissions = [listBindings];
  const { path: reader } = await api.roles.createRole({ parentPath: org, role: { name: "reader", permissions } });
  const names = ["bound", "outer", "middle", "inner"];
  for (const name of names) await api.groups.createGroup({ parentPath: org, group: { name } });
  const [bound, outer, middle, inner] = names.map((name) => `${org}/groups/${name}`) as [
    string,
    string,
    string,
    string,
  ];
  await api.groupMembers.createSubgroup({ parentPath: outer, subgroup: { groupPath: middle } });
  await api.groupMembers.createSubgroup({ parentPath: middle, subgroup: { groupPath: inner } });
  await api.groupMembers.createGroupMember({ parentPath: inner, groupMember: { memberPath: alice } });
  await bind(api, web, bound, reader);

  const callers = new Map<RaceServer, Api>();
  const callerAt = (server: RaceServer): Api => {
    const caller = callers.get(server) ?? createApi("Connect JSON", server.url, secret);
    callers.set(server, caller);
    return caller;
  };

  return {
    org,
    alice,
    web,
    reader,
    bound,
    outer,

    async isAllowed({ access }, resourcePath) {
      const question = { subjectPath: alice, permission: listBindings, resourcePath };
      return (await access.checkAccess(question)).allowed;
    },

    async isLetIn(server, parentPath) {
      try {
        await callerAt(server).roleBindings.listRoleBindings({ parentPath });
        return true;
      } catch (thrown) {
        const { code } = ConnectError.from(thrown);
        if (code === Code.PermissionDenied || code === Code.Unauthenticated) return false;
        // Only callers with the permission learn that it does not exist.
        if (code === Code.NotFound) return true;
        throw thrown;
      }
    },
  };
}

/** Creates a role binding and returns its path. */
export async function bind(api: Api, parentPath: string, subjectPath: string, rolePath: string): Promise<string> {
  const roleBinding = { name: uniqueName("b"), subjectPath, rolePath };
  return (await api.roleBindings.createRoleBinding({ parentPath, roleBinding })).path;
}
