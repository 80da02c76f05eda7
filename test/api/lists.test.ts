// Tests what all lists have in common, over REST and gRPC. One table has all resources, so a resource that behaves
// differently fails.
import fc from "fast-check";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isNamed } from "../../src/standard-methods/definition/definition.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Query, type Workplace, openWorkplace } from "../support/workplace.ts";
import { isInParent, protoNameOf, writtenResources } from "../support/written-resources.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const cases = writtenResources.map((resource) => ({ name: resource.name, resource }));

/** Not in alphabetical order. */
const suffixes = ["delta", "alpha", "echo", "bravo", "charlie"];

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  describe.each(ofEachShape(cases))("$name", ({ resource }) => {
    /** The field that lists can be ordered by, besides times. */
    const textOrder = isNamed(resource.definition) ? "name" : undefined;
    let place: Workplace;
    /** A filter for the items of this test, for resources without a parent. */
    let picked: string | undefined;
    let names: string[];
    let items: readonly Item[];

    const list = (query: Query) => {
      if (picked === undefined) return place.list(query);
      return place.list({ ...query, filter: query.filter ? `${picked} AND (${query.filter})` : picked });
    };

    beforeAll(async () => {
      place = await openWorkplace(resource, createApi(protocol, server.url, server.operatorKey));
      const start = uniqueName("item");
      names = suffixes.map((suffix) => `${start}${suffix}`);
      for (const name of names) {
        await place.makeWay(name);
        await place.create(name);
      }
      const { parentField } = resource;
      const within = parentField === undefined ? [] : [`${protoNameOf(parentField)} = "${place.parent}"`];
      if (!isInParent(resource)) picked = [...within, `name = "${start}*"`].join(" AND ");
      ({ items } = await list({}));
    });

    const namesOf = async (query: Query): Promise<string[]> => (await list(query)).items.map(({ name }) => name);

    test("are listed in the order of their creation", () => {
      expect(items.map(({ name }) => name)).toEqual(names);
    });

    test("can be filtered by the fields that every resource has", async () => {
      const [, alpha] = items;
      for (const [field, value] of Object.entries({
        name: alpha?.name,
        id: alpha?.id,
        path: alpha?.path,
      })) {
        expect(await namesOf({ filter: `${field} = "${value}"` })).toEqual([alpha?.name]);
      }
      expect(await namesOf({ filter: `etag = "${alpha?.etag}"` })).toContain(alpha?.name);
      expect(await namesOf({ filter: 'name = "*alpha" OR name = "*bravo"' })).toEqual([names[1], names[3]]);
      expect(await namesOf({ filter: "NOT alpha AND -bravo" })).toEqual([names[0], names[2], names[4]]);
      expect(await namesOf({ filter: 'create_time > "2020-01-01T00:00:00Z"' })).toEqual(names);
      expect(await namesOf({ filter: 'update_time < "2020-01-01T00:00:00Z"' })).toEqual([]);
    });

    test("can be ordered", async () => {
      expect(await namesOf({ orderBy: "create_time desc, id desc" })).toEqual(names.toReversed());
      if (textOrder === undefined) return;
      expect(await namesOf({ orderBy: textOrder })).toEqual(names.toSorted());
      expect(await namesOf({ orderBy: `${textOrder} desc` })).toEqual(names.toSorted().toReversed());
    });

    test.each([1, 2, 5])("are returned in pages of %i, with any filter and order", async (pageSize) => {
      const query = { filter: 'name != "*echo"', orderBy: textOrder ?? "update_time desc", pageSize };
      const whole = await namesOf({ ...query, pageSize: 1000 });
      expect(whole).toHaveLength(4);
      const paged: string[] = [];
      let pageToken = "";
      do {
        const answer = await list({ ...query, pageToken });
        expect(answer.items.length).toBeLessThanOrEqual(pageSize);
        paged.push(...answer.items.map(({ name }) => name));
        pageToken = answer.nextPageToken;
      } while (pageToken !== "");
      expect(paged).toEqual(whole);
    });

    test("refuse a page token with another filter or order", async () => {
      const { nextPageToken: pageToken } = await list({ pageSize: 1, filter: 'name = "*"' });
      for (const other of [{ filter: 'name = "*a"' }, { filter: 'name = "*"', orderBy: "create_time" }]) {
        const failure = await failureOf(list({ pageSize: 1, pageToken, ...other }));
        expect(failure).toMatchObject({ code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID" });
      }
    });

    test.each([
      [{ filter: 'name = "x' }, "filter", "column 8"],
      [{ filter: "nome = x" }, "filter", "display_name"],
      [{ filter: "name > " }, "filter", "column"],
      [{ filter: "matches(name, 'x')" }, "filter", "matches"],
      [{ filter: "create_time > yesterday" }, "filter", "2026-01-31T12:00:00Z"],
      [{ filter: "(".repeat(1000) }, "filter", "32"],
      [{ orderBy: "nome" }, "order_by", "create_time"],
      [{ orderBy: "create_time down" }, "order_by", "desc"],
      [{ orderBy: "id, id" }, "order_by", "the field is repeated"],
    ])("refuse %j", async (query, field, message) => {
      const failure = await failureOf(place.list(query));
      expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [field] });
      expect(failure.message).toContain(message);
    });
  });
});

test("a member without an address has an empty one in filters, as in what is read of it", async () => {
  const { orgs, members } = createApi("gRPC", server.url, server.operatorKey);
  const { path } = await orgs.createOrg({ org: { name: uniqueName("org") } });
  for (const [name, email] of [
    ["alice", "Alice@example.com"],
    ["bob", ""],
  ] as const)
    await members.createMember({ parentPath: path, member: { name, email } });
  const found = async (filter: string) =>
    (await members.listMembers({ parentPath: path, filter })).members.map(({ name }) => name);
  const both = ["alice", "bob"];
  for (const [filter, expected] of [
    ['email = ""', ["bob"]],
    ['email != ""', ["alice"]],
    ['email = "alice@EXAMPLE.com"', ["alice"]],
    ['email != "alice@example.com"', ["bob"]],
    ['email != "x@example.com"', both],
    ['email < "B"', both],
    ['email = "*"', both],
    ["email:*", ["alice"]],
    ['NOT email = ""', ["alice"]],
  ] as const)
    expect([filter, await found(filter)]).toEqual([filter, expected]);
});

test("a list that is paged during writes has each row once that exists throughout", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("page", "create", "delete", "rename"), { minLength: 10, maxLength: 25 }),
      fc.constantFrom("", "name", "create_time desc", "update_time, name desc"),
      fc.integer({ min: 1, max: 4 }),
      async (steps, orderBy, pageSize) => {
        const { path: org } = await api.orgs.createOrg({ org: { name: uniqueName("busy") } });
        const create = async (): Promise<string> =>
          (await api.projects.createProject({ parentPath: org, project: { name: uniqueName("p") } })).id;
        const steady = await Promise.all(Array.from({ length: 8 }, create));
        const passing = [await create(), await create()];
        const seen: string[] = [];
        const pager = { token: "", isDone: false };
        const turn = async (): Promise<void> => {
          if (pager.isDone) return;
          const query = { parentPath: org, orderBy, pageSize, pageToken: pager.token };
          const answer = await api.projects.listProjects(query);
          seen.push(...answer.projects.map(({ id }) => id));
          pager.token = answer.nextPageToken;
          pager.isDone = answer.nextPageToken === "";
        };
        for (const step of steps) {
          const id = passing.at(-1);
          if (step === "page") await turn();
          else if (step === "create" || id === undefined) passing.push(await create());
          else if (step === "delete") await api.projects.deleteProject({ path: `${org}/projects/@${passing.pop()}` });
          else {
            const project = { name: uniqueName("renamed") };
            await api.projects.updateProject({ path: `${org}/projects/@${id}`, project });
          }
        }
        while (!pager.isDone) await turn();
        expect(seen.filter((id) => steady.includes(id)).toSorted()).toEqual(steady.toSorted());
      },
    ),
    { numRuns: rounds(3, 2_000) },
  );
});

test("the `total_size` of a list is the number of its items, also when a write commits while it is read", async () => {
  const api = createApi("gRPC", server.url, server.operatorKey);
  const { path: parentPath, id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const requests = ["one", "two", "three"].map((name) => ({ parentPath, group: { name } }));
  await api.groups.batchCreateGroups({ parentPath, requests });
  const [writer, watcher] = await Promise.all([openSqlClient(server.databaseUrl), openSqlClient(server.databaseUrl)]);
  onTestFinished(() => writer.close());
  onTestFinished(() => watcher.close());
  // The list reads its page, and waits for the number.
  await writer.query("begin");
  await writer.query("lock table resource_counts in access exclusive mode");
  const listed = api.groups.listGroups({ parentPath });
  const waiting =
    "select from pg_locks where relation = 'resource_counts'::regclass and mode = 'AccessShareLock' and not granted";
  await expect.poll(() => watcher.query(waiting)).toHaveLength(1);
  await writer.query("delete from groups where org_id = $1 and name = 'two'", [id]);
  const counted = "org_id = $1 and parent_id = $1 and resource_type = 'Group'";
  await writer.query(`update resource_counts set count = count - 1 where ${counted}`, [id]);
  await writer.query("commit");
  const { groups, totalSize } = await listed;
  expect([groups.length, totalSize]).toEqual([3, 3]);
});
