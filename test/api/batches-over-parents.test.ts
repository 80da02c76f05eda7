// Tests BatchCreate in several parents of one org: its parent ends with `-`, and each request names its own (AIP-233).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrgCast } from "../access/org-cast.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type BatchPlace, batchPlaceOf } from "../support/batch-place.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import { hasMethod, isRunByProvider, writtenResources } from "../support/written-resources.ts";

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const cases = writtenResources
  .filter(({ place }) => place.parents.length === 2 && place.pattern[0] === "orgs")
  .filter((resource) => hasMethod(resource, `BatchCreate${resource.nouns.many}`) && !isRunByProvider(resource))
  .map((resource) => ({ name: resource.name, resource }));

test("covers all collections below groups, members and projects", () => {
  const patterns = cases.map(({ resource }) => resource.place.pattern.join("/"));
  expect(patterns.toSorted()).toEqual([
    "orgs/groups/members",
    "orgs/groups/subgroups",
    "orgs/members/apiKeys",
    "orgs/members/identities",
    "orgs/projects/roleBindings",
  ]);
});

const pathsOf = (items: readonly Item[]): string[] => items.map(({ path }) => path);
const allOf = (parent: string): string => parent.replace(/[^/]+$/, "-");

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  const api = () => createApi(protocol, server.url, server.operatorKey);

  describe.each(ofEachShape(cases))("$name", ({ resource }) => {
    let one: Workplace;
    let two: Workplace;
    let batch: BatchPlace;
    let parentPath: string;
    beforeAll(async () => {
      one = await openWorkplace(resource, api());
      two = await openWorkplace(resource, api(), one.org);
      batch = batchPlaceOf(resource, api(), one);
      parentPath = allOf(one.parent);
    });

    /** Returns a request for an item in a place, for which what it requires exists. */
    const requestIn = async (place: Workplace, name = uniqueName("item"), fields: object = {}): Promise<object> => {
      await place.makeWay(name);
      return { ...batch.requestFor(name, fields), parentPath: place.parent };
    };
    const create = (requests: readonly object[], options: object = {}) =>
      batch.create(requests, { parentPath, ...options });

    test("creates all in the order of the request, in one revision, and counts them", async () => {
      const org = one.org.path.slice(6);
      const revisionOf = async () =>
        Number((await sql.query("select revision from orgs where name = $1", [org]))[0]?.["revision"]);
      const places = [one, two, one, two, two];
      const names = places.map(() => uniqueName("item"));
      const requests: object[] = [];
      for (const [index, place] of places.entries()) requests.push(await requestIn(place, names[index]));
      const before = await revisionOf();
      const items = await create(requests);
      expect(pathsOf(items)).toEqual(places.map((place, index) => place.pathOf(names[index] ?? "")));
      expect(await revisionOf()).toBe(before + 1);
      const lines = await sql.query(
        "select resource_path from changes join orgs on orgs.id = org_id where orgs.name = $1 and changes.revision = orgs.revision order by position",
        [org],
      );
      expect(lines.map((line) => line["resource_path"])).toEqual(pathsOf(items));
      for (const place of [one, two]) {
        const listed = pathsOf([...(await place.list()).items]);
        for (const path of pathsOf(items).filter((each) => each.startsWith(`${place.parent}/`))) {
          expect(listed).toContain(path);
        }
      }
    });

    test("writes the same as single Creates", async () => {
      const written = async (write: (places: readonly Workplace[], names: readonly string[]) => Promise<void>) => {
        const first = await openWorkplace(resource, api());
        const second = await openWorkplace(resource, api(), first.org);
        const names = ["item-a", "item-b", "item-c"];
        for (const name of names) await first.makeWay(name);
        await write([first, second], names);
        const tidy = (text: string): string =>
          text
            .replaceAll(first.parent, "first")
            .replaceAll(second.parent, "second")
            .replaceAll(first.org.path, "org")
            .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id");
        const org = [first.org.path.slice(6)];
        const changes = await sql.query(
          "select resource_path, after from changes join orgs on orgs.id = org_id where orgs.name = $1 and resource_type = $2 order by changes.revision, position",
          [...org, resource.type],
        );
        const counts = await sql.query(
          "select count::int from resource_counts join orgs on orgs.id = org_id where orgs.name = $1 and resource_type = $2 order by 1",
          [...org, resource.type],
        );
        const changing = new Set(["create_time", "update_time", "changed_revision", "prefix", "hash"]);
        const rows = changes.map(({ resource_path: path, after }) => [
          tidy(String(path)),
          tidy(JSON.stringify(Object.entries(after as object).filter(([column]) => !changing.has(column)))),
        ]);
        return { rows, counts };
      };
      const layout = [0, 1, 1] as const;
      const singly = await written(async (places, names) => {
        for (const [index, name] of names.entries()) await places[layout[index] ?? 0]?.create(name);
      });
      const together = await written(async (places, names) => {
        const [first] = places as [Workplace];
        const other = batchPlaceOf(resource, api(), first);
        const requests = names.map((name, index) => ({
          ...other.requestFor(name),
          parentPath: places[layout[index] ?? 0]?.parent,
        }));
        await other.create(requests, { parentPath: allOf(first.parent) });
      });
      expect(together).toEqual(singly);
      expect(together.rows).toHaveLength(3);
    });

    test("creates nothing if an item is refused, and names it", async () => {
      const { brokenField, broken } = resource;
      const name = uniqueName("item");
      const ok = await requestIn(one);
      const bad = await requestIn(two, uniqueName("item"), broken);
      const [taken, again] = [await requestIn(two, name), { ...(await requestIn(one)), parentPath: two.parent }];
      await two.create(name);
      const before = await sql.summarise();
      expect(await failureOf(create([ok, bad]))).toMatchObject({
        code: "InvalidArgument",
        fields: [`requests[1].${batch.field}.${brokenField}`],
      });
      expect(await failureOf(create([ok, again, taken]))).toMatchObject({
        code: "AlreadyExists",
        metadata: { index: "2" },
      });
      expect(await failureOf(create([ok, again, again]))).toMatchObject({
        code: "AlreadyExists",
        metadata: { index: "2" },
      });
      expect(await sql.summarise()).toEqual(before);
    });

    test("accepts the same name in two parents", async () => {
      // An identity has a subject, which is unique in its org.
      if (resource.type === "Identity") return;
      const name = uniqueName("item");
      const requests = [await requestIn(one, name), { ...batch.requestFor(name), parentPath: two.parent }];
      expect(pathsOf(await create(requests))).toEqual([one.pathOf(name), two.pathOf(name)]);
    });

    test("requires that each request names one parent in the org", async () => {
      const foreign = await openWorkplace(resource, api());
      const top = await one.top();
      const good = { ...(await requestIn(one)), parentPath: one.parent.replace(top.path, top.byId) };
      const unnamed = { ...(await requestIn(one)), parentPath: "" };
      const before = await sql.summarise();
      const elsewhere = one.parent.replace(/^\/orgs\/[^/]+/, "/orgs/nowhere");
      const unknownId = one.parent.replace(/^\/orgs\/[^/]+/, `/orgs/@${randomUUID()}`);
      const wrong = [foreign.parent, elsewhere, unknownId].map((path) => ({ ...good, parentPath: path }));
      const failure = await failureOf(create([good, unnamed, ...wrong]));
      const fields = [1, 2, 3, 4].map((index) => `requests[${index}].parent_path`);
      expect(failure).toMatchObject({ code: "InvalidArgument", fields });
      const all = await failureOf(create([good, { ...good, parentPath }, { ...good, parentPath: "nonsense" }]));
      expect(all).toMatchObject({
        code: "InvalidArgument",
        fields: ["requests[1].parent_path", "requests[2].parent_path"],
      });
      expect(await sql.summarise()).toEqual(before);
      expect(await create([good])).toHaveLength(1);
    });

    test("refuses a `-` for the org", async () => {
      const request = await requestIn(one);
      for (const path of [allOf(one.parent), one.parent]) {
        const anywhere = path.replace(/^\/orgs\/[^/]+/, "/orgs/-");
        expect(await failureOf(create([request], { parentPath: anywhere }))).toMatchObject({
          code: "InvalidArgument",
          fields: ["parent_path"],
        });
      }
    });

    test("fails as a single Create does in a parent that does not exist", async () => {
      const requests = [
        await requestIn(one),
        { ...(await requestIn(one)), parentPath: `${parentPath.slice(0, -1)}nobody` },
      ];
      const before = await sql.summarise();
      const single = await failureOf(one.create(uniqueName("item"), {}, {}, `${parentPath.slice(0, -1)}nobody`));
      const { code, reason, message } = single;
      expect(await failureOf(create(requests))).toMatchObject({ code, reason, message, metadata: { index: "1" } });
      expect(code).toBe("NotFound");
      expect(await sql.summarise()).toEqual(before);
    });

    test("supports validate_only and request_id", async () => {
      const requests = [await requestIn(one), await requestIn(two)];
      const before = await sql.summarise();
      const checked = await create(requests, { validateOnly: true });
      expect(await sql.summarise()).toEqual(before);
      const requestId = randomUUID();
      const items = await create(requests, { requestId });
      expect(pathsOf(items)).toEqual(pathsOf(checked));
      expect(pathsOf(await create(requests, { requestId }))).toEqual(pathsOf(items));
    });

    test("requires the permission on each parent, and tells of the others nothing", async () => {
      const cast = await createOrgCast(protocol, server);
      const [mine, other] = [
        await openWorkplace(resource, api(), cast.org),
        await openWorkplace(resource, api(), cast.org),
      ];
      const member = await cast.member(uniqueName("member"));
      const inProject = resource.place.pattern[1] === "projects";
      await (inProject
        ? cast.grant(mine.parent, member.path, "/roles/owner")
        : cast.grant(cast.org.path, member.path, "/roles/owner", {
            condition: `resource.path.startsWith("${mine.parent}/") || resource.path == "${mine.parent}"`,
          }));
      const asMember = batchPlaceOf(resource, member.api, mine);
      const names = Array.from({ length: 4 }, () => uniqueName("item"));
      for (const name of names) await mine.makeWay(name);
      const requestFor = (name: string | undefined, parent: string) => ({
        ...asMember.requestFor(name ?? ""),
        parentPath: parent,
      });
      const all = { parentPath: allOf(mine.parent) };
      const before = await sql.summarise();
      const missing = `${all.parentPath.slice(0, -1)}nobody`;
      for (const parent of [other.parent, missing]) {
        const single = await failureOf(mine.as(member.api).create(names[1] ?? "", {}, {}, parent));
        const failure = await failureOf(
          asMember.create([requestFor(names[0], mine.parent), requestFor(names[1], parent)], all),
        );
        expect(failure).toMatchObject({ code: "PermissionDenied", reason: single.reason, message: single.message });
        expect(failure.metadata).toEqual({ ...single.metadata, index: "1" });
      }
      expect(await sql.summarise()).toEqual(before);
      // The identities of others are created by owners of the whole org.
      if (resource.type === "Identity") return;
      expect(
        await asMember.create([requestFor(names[2], mine.parent), requestFor(names[3], mine.parent)], all),
      ).toHaveLength(2);
    });
  });
});
