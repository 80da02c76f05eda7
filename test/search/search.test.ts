// What a search finds, and what it does not show to those who may not read it.
import { beforeAll, describe, expect, test } from "vitest";
import { FoundResource_Match as Match, SearchService } from "../../gen/iam/v1alpha/search_pb.ts";
import { createClient } from "@connectrpc/connect";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { createTransport, protocols } from "../support/transports.ts";

let server: SharedServer;
let api: Api;
let org: string;
let other: string;
const members: Record<
  string,
  { readonly path: string; readonly id: string; readonly key: string; readonly prefix: string }
> = {};

async function join(
  parentPath: string,
  name: string,
  displayName: string,
  role?: string,
  at = parentPath,
): Promise<void> {
  const { path, id } = await api.members.createMember({ parentPath, member: { name, displayName, type: 2 } });
  if (role !== undefined) {
    const roleBinding = { name: uniqueName("b"), rolePath: `/roles/${role}`, subjectPath: path };
    await api.roleBindings.createRoleBinding({ parentPath: at, roleBinding });
  }
  const { secret = "", prefix } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
  members[name] = { path, id, key: secret, prefix };
}

const member = (name: string) => {
  const found = members[name];
  if (found === undefined) throw new Error(name);
  return found;
};

beforeAll(async () => {
  server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
  ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("acme"), displayName: "Zebra works" } }));
  ({ path: other } = await api.orgs.createOrg({ org: { name: uniqueName("rival") } }));
  await api.projects.createProject({ parentPath: org, project: { name: "web-shop", displayName: "Shop on the web" } });
  await api.groups.createGroup({ parentPath: org, group: { name: "alpha", displayName: "Web people" } });
  await join(org, "alice", "Alice Liddell", "viewer");
  await join(org, "bob", "Ali Baba");
  await join(org, "carol", "Carol", "viewer", `${org}/projects/web-shop`);
  await join(other, "rita", "Alice Rival", "owner");
});

const searchAs = (key: string, query: string, parentPath = org, protocol: (typeof protocols)[number] = "Connect") =>
  createClient(SearchService, createTransport(protocol, server.url, key)).searchResources({ parentPath, query });

async function find(key: string, query: string, parentPath = org): Promise<[string, Match][]> {
  const { results } = await searchAs(key, query, parentPath);
  return results.map(({ path, match }) => [path, match]);
}

describe("who may read all of an org", () => {
  test("finds by the start of a name, and then of a display name, whatever the case of its first letter", async () => {
    const { key } = member("alice");
    const found = await find(key, "al");
    expect(new Map(found)).toEqual(
      new Map([
        [`${org}/groups/alpha`, Match.NAME],
        [`${org}/members/alice`, Match.NAME],
        [`${org}/members/bob`, Match.DISPLAY_NAME],
      ]),
    );
    expect(found.map(([, match]) => match)).toEqual([Match.NAME, Match.NAME, Match.DISPLAY_NAME]);
    expect(await find(key, "Ali B")).toEqual([[`${org}/members/bob`, Match.DISPLAY_NAME]]);
    expect(await find(key, "web s")).toEqual([[`${org}/projects/web-shop`, Match.NAME]]);
    expect(await find(key, "web")).toEqual([
      [`${org}/projects/web-shop`, Match.NAME],
      [`${org}/groups/alpha`, Match.DISPLAY_NAME],
    ]);
  });

  test("finds by id, by path and by the address of a screen, whole", async () => {
    const { key } = member("alice");
    const { path, id } = member("bob");
    for (const text of [id, `@${id}`]) expect(await find(key, text)).toEqual([[path, Match.ID]]);
    for (const parent of [org, "orgs/-"]) {
      expect(await find(key, id, parent)).toEqual([[path, Match.ID]]);
      for (const text of [path, path.slice(1), `https://iam.example.com/console${path}?tab=keys`]) {
        expect(await find(key, text, parent)).toEqual([[path, Match.PATH]]);
      }
    }
  });

  test("finds an API key by its prefix, in one org and in all", async () => {
    const { path, prefix, key } = member("bob");
    for (const parent of [org, "orgs/-"]) {
      for (const text of [prefix, key]) {
        expect(await find(member("alice").key, text, parent)).toEqual([[`${path}/apiKeys/ci`, Match.KEY_PREFIX]]);
      }
    }
  });

  test.each(protocols)("gets what it needs to show it, over %s", async (protocol) => {
    const { results } = await searchAs(member("alice").key, "alice", org, protocol);
    expect(results).toMatchObject([
      {
        path: member("alice").path,
        type: "Member",
        id: member("alice").id,
        displayName: "Alice Liddell",
        match: Match.NAME,
      },
    ]);
  });

  test.each([
    '"',
    "\\",
    "*",
    'a" OR name:*',
    "' OR '",
    "%",
    "_",
    "\u{10ffff}",
    "日本",
    "-",
    "/",
    "a".repeat(1_000),
    '"'.repeat(1_024),
  ])("finds nothing, and fails nowhere, for %j", async (text) => {
    expect(await find(member("alice").key, text)).toEqual([]);
  });
});

describe("who may read less", () => {
  test("finds in the whole installation what it may list and nothing else", async () => {
    const name = org.slice("/orgs/".length);
    expect(await find(member("alice").key, name, "orgs/-")).toEqual([[org, Match.NAME]]);
    expect(await find(member("alice").key, "zebra", "orgs/-")).toEqual([[org, Match.DISPLAY_NAME]]);
    expect(await find(member("rita").key, name, "orgs/-")).toEqual([]);
  });

  test.each(["alice", "Ali", "web", "member id", "key prefix", "project path", "no such name"])(
    "finds the same for %s, whether that exists or not: nothing",
    async (what) => {
      const texts: Readonly<Record<string, string>> = {
        "member id": member("alice").id,
        "key prefix": member("alice").prefix,
        "project path": `${org}/projects/web-shop`,
      };
      const query = texts[what] ?? what;
      // Without a role, of another org, and in an org that does not exist.
      expect(await find(member("bob").key, query)).toEqual([]);
      expect(await find(member("rita").key, query)).toEqual([]);
      expect(await find(member("rita").key, query, "/orgs/nosuchone")).toEqual([]);
    },
  );

  test("finds a project on which it has a role by path and id, and nothing beside it", async () => {
    const { key } = member("carol");
    const { id } = await api.projects.getProject({ path: `${org}/projects/web-shop` });
    expect(await find(key, `${org}/projects/web-shop`)).toEqual([[`${org}/projects/web-shop`, Match.PATH]]);
    expect(await find(key, id)).toEqual([[`${org}/projects/web-shop`, Match.ID]]);
    expect(await find(key, "alice")).toEqual([]);
  });

  test("finds nothing from the moment at which it loses its role", async () => {
    const { path } = await api.members.createMember({ parentPath: org, member: { name: "dave", type: 2 } });
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: path };
    const binding = await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
    expect(await find(secret, "alice")).toHaveLength(1);
    await api.roleBindings.deleteRoleBinding({ path: binding.path });
    expect(await find(secret, "alice")).toEqual([]);
  });

  test("leaves no refused call in the log of the org", async () => {
    const key = member("bob").key;
    await find(key, member("alice").id);
    await find(member("rita").key, "alice");
    // A call that is refused after the searches is in the log, and they are not.
    const own = createApi("gRPC", server.url, key);
    await failureOf(own.members.getMember({ path: member("alice").path }));
    const sql = await openSqlClient(server.databaseUrl);
    const read = () =>
      sql.query("select method from access_events where org_id = (select id from orgs where name = $1)", [
        org.slice(6),
      ]);
    await expect.poll(async () => (await read()).length).toBe(1);
    expect(await read()).toEqual([{ method: "iam.v1alpha.MembersService/GetMember" }]);
    await sql.close();
  });
});

test("refuses a query that is empty or too long, and a parent that is no org", async () => {
  const { key } = member("alice");
  for (const [query, parent] of [
    ["", org],
    ["\0", org],
    ["a".repeat(1_025), org],
    ["a", "customers/x"],
    ["a", ""],
    ["a", `${org}/members/alice`],
  ] as const) {
    expect((await failureOf(searchAs(key, query, parent))).code).toBe("InvalidArgument");
  }
});

test("finds five of a type at most by name", async () => {
  const groups = Array.from({ length: 8 }, (_, at) => ({ parentPath: org, group: { name: `many-${at}` } }));
  for (const group of groups) await api.groups.createGroup(group);
  expect((await find(member("alice").key, "many")).map(([path]) => path)).toEqual(
    groups.slice(0, 5).map(({ group }) => `${org}/groups/${group.name}`),
  );
});

test("over REST, a GET below the org", async () => {
  const headers = { authorization: `Bearer ${member("alice").key}` };
  const response = await fetch(`${server.url}/iam/v1alpha${org}:search?query=alice`, { headers });
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      results: [
        {
          path: `${org}/members/alice`,
          type: "Member",
          id: member("alice").id,
          display_name: "Alice Liddell",
          match: "NAME",
        },
      ],
    },
  ]);
  const everywhere = await fetch(`${server.url}/iam/v1alpha/orgs/-:search?query=${member("bob").id}`, { headers });
  expect(await everywhere.json()).toMatchObject({ results: [{ path: member("bob").path }] });
});
