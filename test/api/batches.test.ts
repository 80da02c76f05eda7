// Tests batches over REST and gRPC (AIP-231, 233, 235): all items or none, and an error names the item.
import { randomUUID } from "node:crypto";
import pMap from "p-map";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { type BatchPlace, batchPlaceOf } from "../support/batch-place.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import {
  type WrittenResource,
  hasMethod,
  hasSecret,
  isInParent,
  isRunByProvider,
  protoNameOf,
  writtenResources,
} from "../support/written-resources.ts";

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

const cases = writtenResources.map((resource) => ({ name: resource.name, resource }));
const created = cases.filter(({ resource }) => hasMethod(resource, `BatchCreate${resource.nouns.many}`));

const pathsOf = (items: readonly Item[]): string[] => items.map(({ path }) => path);
const withoutSecret = ({ secret: _secret, ...rest }: Item): object => rest;

/** A provider carries out one operation after the other. */
const atOnce = (resource: WrittenResource) => ({ concurrency: isRunByProvider(resource) ? 1 : 8 });

/** Returns names for new items, for which everything required exists. */
async function namesIn(place: Workplace, resource: WrittenResource, count: number): Promise<string[]> {
  const all = Array.from({ length: count }, () => uniqueName("item"));
  await pMap(all, (name) => place.makeWay(name), atOnce(resource));
  return all;
}

/** Returns the same path in another org or service. */
const inTop = (path: string, name: string): string => path.replace(/^(\/\w+)\/[^/]+/, `$1/${name}`);

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  const api = () => createApi(protocol, server.url, server.operatorKey);

  describe.each(ofEachShape(cases))("$name", ({ resource }) => {
    let place: Workplace;
    let batch: BatchPlace;
    beforeAll(async () => {
      place = await openWorkplace(resource, api());
      batch = batchPlaceOf(resource, api(), place);
    });

    const names = (count: number): Promise<string[]> => namesIn(place, resource, count);

    /** Creates items in one batch, where there is one. */
    const make = async (count: number): Promise<Item[]> => {
      const all = await names(count);
      const isInBatch = hasMethod(resource, `BatchCreate${resource.nouns.many}`) && !isRunByProvider(resource);
      if (isInBatch) return batch.create(all.map((name) => batch.requestFor(name)));
      return pMap(all, (name) => place.create(name), atOnce(resource));
    };

    describe("BatchGet", () => {
      test("returns items in the order of the request, and the same one twice if requested", async () => {
        const [one, two, three] = (await make(3)) as [Item, Item, Item];
        const answer = await batch.get([three.path, one.path, two.path, one.path.slice(1)]);
        expect(answer).toEqual([
          await place.get(three.path),
          await place.get(one.path),
          await place.get(two.path),
          await place.get(one.path),
        ]);
      });

      test("accepts ids", async () => {
        const items = await make(2);
        const byId = items.map(({ path, id }) => path.replace(/[^/]+$/, `@${id}`));
        expect(pathsOf(await batch.get(byId))).toEqual(pathsOf(items));
      });

      test("names the first missing path and its index", async () => {
        const [item] = (await make(1)) as [Item];
        const failure = await failureOf(batch.get([item.path, place.pathOf("nobody"), place.pathOf("nothing")]));
        expect(failure).toMatchObject({
          code: "NotFound",
          reason: "RESOURCE_NOT_FOUND",
          metadata: { index: "1", resource: place.pathOf("nobody") },
        });
        expect(failure.message).toContain(place.pathOf("nobody"));
      });

      test("refuses no paths, too many, and invalid ones", async () => {
        expect(await failureOf(batch.get([]))).toMatchObject({ code: "InvalidArgument", fields: ["paths"] });
        const path = place.pathOf("x");
        const bad = await failureOf(batch.get([path, "nonsense", path, `${path}/x`]));
        expect(bad).toMatchObject({ code: "InvalidArgument", fields: ["paths[1]", "paths[3]"] });
      });
    });

    describe("BatchDelete", () => {
      test("deletes all, and returns what stays readable in the order of the request", async () => {
        const items = (await make(3)).toReversed();
        const answer = await batch.delete(pathsOf(items));
        for (const { path } of items) expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
        if (answer === undefined) return;
        expect(answer.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
        for (const item of answer) expect(item).toEqual(await place.get(item.path));
      });

      test("deletes nothing if one is missing, and names it", async () => {
        const items = await make(2);
        const before = await sql.summarise();
        const failure = await failureOf(batch.delete([...pathsOf(items), place.pathOf("nobody")]));
        expect(failure).toMatchObject({ code: "NotFound", metadata: { index: "2" } });
        expect(await sql.summarise()).toEqual(before);
      });

      test.skipIf(isRunByProvider(resource))(
        "with allow_missing, ignores missing resources and no other error",
        async () => {
          const [one, gone, two] = (await make(3)) as [Item, Item, Item];
          const deleted = await place.delete(gone.path);
          const goneById = gone.path.replace(/[^/]+$/, `@${gone.id}`);
          const paths = [one.path, goneById, place.pathOf("nobody"), two.path];
          const answer = await batch.delete(paths, { allowMissing: true });
          if (answer !== undefined) {
            expect(answer.map(({ id }) => id)).toEqual([one.id, gone.id, two.id]);
            expect(answer[1]).toEqual(deleted);
          }
          for (const { path } of [one, two])
            expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
          const before = await sql.summarise();
          const left = answer?.map(({ path }) => path) ?? [one.path, two.path];
          expect(await batch.delete([...left, place.pathOf("nobody")], { allowMissing: true })).toEqual(answer);
          expect(await sql.summarise()).toEqual(before);
        },
      );

      test("refuses the same item twice, by name or id, and changes nothing", async () => {
        const [one, two] = (await make(2)) as [Item, Item];
        const byId = one.path.replace(/[^/]+$/, `@${one.id}`);
        const before = await sql.summarise();
        for (const again of [one.path, one.path.slice(1), byId]) {
          expect(await failureOf(batch.delete([one.path, two.path, again]))).toMatchObject({
            code: "InvalidArgument",
            fields: ["paths[2]"],
          });
        }
        expect(await sql.summarise()).toEqual(before);
      });

      test("refuses an etag that is not current, names the item, and deletes nothing; etags are one for each path, or none", async () => {
        const items = await make(3);
        const paths = pathsOf(items);
        const [one = "", two = "", three = ""] = items.map(({ etag }) => etag);
        const before = await sql.summarise();
        expect(await failureOf(batch.delete(paths, { etags: [one, "0", ""] }))).toMatchObject({
          code: "Aborted",
          reason: "ETAG_STALE",
          metadata: { index: "1", resource: paths[1] },
        });
        for (const etags of [[one], [one, two, three, ""]]) {
          const failure = await failureOf(batch.delete(paths, { etags }));
          expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["etags"] });
          expect(failure.message).toContain("an item for each of the 3 paths");
        }
        expect(await sql.summarise()).toEqual(before);
        await batch.delete(paths, { etags: [one, "", three] });
        for (const path of paths) expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
      });

      test("accepts no wildcard", async () => {
        const path = place.pathOf("-");
        expect(await failureOf(batch.delete([path]))).toMatchObject({ code: "InvalidArgument", fields: ["paths[0]"] });
      });

      test("supports validate_only and request_id", async () => {
        const paths = pathsOf(await make(2));
        const before = await sql.summarise();
        const checked = await batch.delete(paths, { validateOnly: true });
        expect(await sql.summarise()).toEqual(before);
        const requestId = randomUUID();
        const answer = await batch.delete(paths, { requestId });
        expect(checked?.map(({ id }) => id)).toEqual(answer?.map(({ id }) => id));
        const after = await sql.summarise();
        expect(await batch.delete(paths, { requestId })).toEqual(answer);
        expect(await failureOf(batch.delete(paths.toReversed(), { requestId }))).toMatchObject({
          code: "InvalidArgument",
          fields: ["request_id"],
        });
        expect(await sql.summarise()).toEqual(after);
      });

      // A provider's part has revisions of its own: test/resources/batches.test.ts.
      test.runIf(isInParent(resource) && !isRunByProvider(resource))(
        "writes one revision, with a line for each item",
        async () => {
          // Entries are in the order of the request, or in that of the ids.
          const items = (await make(3)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
          const [before] = await sql.query("select id, revision from orgs where name = $1", [place.logOf.slice(6)]);
          await batch.delete(pathsOf(items));
          const lines = await sql.query(
            "select revision, position, resource_id from changes where org_id = $1 and revision > $2 order by position",
            [before?.["id"], before?.["revision"]],
          );
          expect(lines.map((line) => line["resource_id"])).toEqual(items.map(({ id }) => id));
          expect(new Set(lines.map((line) => line["revision"])).size).toBe(1);
        },
      );
    });

    describe.runIf(isInParent(resource))("below a parent", () => {
      const other = async (): Promise<{ place: Workplace; item: Item }> => {
        const elsewhere = await openWorkplace(resource, api());
        const name = uniqueName("item");
        await elsewhere.makeWay(name);
        return { place: elsewhere, item: await elsewhere.create(name) };
      };

      test("accepts it by name and by id", async () => {
        const items = await make(2);
        const top = await place.top();
        const byId = (path: string): string => path.replace(top.path, top.byId);
        expect(pathsOf(await batch.get(items.map(({ path }) => byId(path))))).toEqual(pathsOf(items));
        expect(pathsOf(await batch.get(pathsOf(items), byId(place.parent)))).toEqual(pathsOf(items));
        await batch.delete(items.map(({ path }) => byId(path)));
        for (const { path } of items) expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
      });

      test("returns the same error for existing and missing paths below another parent", async () => {
        const [item] = (await make(1)) as [Item];
        const { place: elsewhere, item: foreign } = await other();
        const before = await sql.summarise();
        for (const path of [foreign.path, elsewhere.pathOf("nobody"), inTop(foreign.path, "nowhere")]) {
          for (const call of [batch.get, batch.delete]) {
            const failure = await failureOf(call([item.path, path]));
            expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["paths[1]"] });
            expect(failure.message).toBe(`paths[1]: must lie below ${place.parent}`);
          }
        }
        expect(await sql.summarise()).toEqual(before);
      });

      test("resolves `-` only below the parent", async () => {
        const [item] = (await make(1)) as [Item];
        const { item: foreign } = await other();
        const anywhere = (path: string): string => inTop(path, "-");
        const isInTop = place.parent === (await place.top()).path;
        if (isInTop) {
          const paths = [item.path, foreign.path];
          expect(pathsOf(await batch.get(paths, anywhere(place.parent)))).toEqual(paths);
        }
        // The ids of members of groups are those of members, which do not name one group.
        if (resource.standsFor !== undefined && !isInTop) return;
        const byId = ({ path, id }: Item): string => anywhere(path).replace(/[^/]+$/, `@${id}`);
        expect(pathsOf(await batch.get([byId(item)]))).toEqual([item.path]);
        expect(pathsOf(await batch.get([byId(item)], anywhere(place.parent)))).toEqual([item.path]);
        const failure = await failureOf(batch.get([byId(item), byId(foreign)]));
        expect([failure.metadata["index"], ...failure.fields]).toContain(isInTop ? "1" : "paths[1]");
      });

      test("refuses a `-` in the parent of a write", async () => {
        const parentPath = inTop(place.parent, "-");
        const failure = await failureOf(batch.delete([place.pathOf("x")], { parentPath }));
        expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["parent_path"] });
      });
    });
  });

  describe.each(ofEachShape(created))("BatchCreate of $name", ({ resource }) => {
    const { type, brokenField, broken } = resource;
    let place: Workplace;
    let batch: BatchPlace;
    beforeAll(async () => {
      place = await openWorkplace(resource, api());
      batch = batchPlaceOf(resource, api(), place);
    });

    const names = (count: number): Promise<string[]> => namesIn(place, resource, count);
    const requestsFor = (all: readonly string[]): object[] => all.map((name) => batch.requestFor(name));

    test("creates all in the order of the request", async () => {
      const all = await names(3);
      const items = await batch.create(requestsFor(all));
      expect(pathsOf(items)).toEqual(all.map((name) => place.pathOf(name)));
      expect(items.map(({ id }) => id)).toEqual(items.map(({ id }) => id).toSorted());
      for (const item of items) expect(await place.get(item.path)).toEqual(withoutSecret(item));
      const secrets = new Set(items.map(({ secret }) => secret).filter((secret) => secret !== undefined));
      expect(secrets.size).toBe(hasSecret(resource) ? 3 : 0);
    });

    test("creates the same as Create", async () => {
      const [one, other] = (await names(2)) as [string, string];
      const single = await place.create(one);
      const [item] = (await batch.create([batch.requestFor(other)])) as [Item];
      const shape = (made: Item, name: string): unknown =>
        JSON.parse(
          JSON.stringify(
            { ...made, id: "", etag: "", secret: typeof made.secret, prefix: "", createTime: 0, updateTime: 0 },
            (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value),
          ).replaceAll(name, "it"),
        );
      expect(shape(item, other)).toEqual(shape(single, one));
    });

    test.skipIf(isRunByProvider(resource))("writes one revision, with lines in the order of the request", async () => {
      const [before] = await sql.query("select id, revision from orgs where name = $1", [place.logOf.slice(6)]);
      const items = await batch.create(requestsFor(await names(3)));
      if (type === "Org") return;
      const lines = await sql.query(
        "select revision, resource_id from changes where org_id = $1 and revision > $2 and resource_type = $3 order by revision, position",
        [before?.["id"], before?.["revision"], type],
      );
      expect(lines.map((line) => line["resource_id"])).toEqual(items.map(({ id }) => id));
      expect(new Set(lines.map((line) => line["revision"])).size).toBe(1);
    });

    test("leaves nothing behind if the last item already exists, and names it", async () => {
      const all = await names(3);
      await place.create(all[2] ?? "");
      const before = await sql.summarise();
      expect(await failureOf(batch.create(requestsFor(all)))).toMatchObject({
        code: "AlreadyExists",
        reason: "RESOURCE_EXISTS",
        metadata: { index: "2" },
      });
      expect(await sql.summarise()).toEqual(before);
      const [one, two] = await batch.create(requestsFor(all.slice(0, 2)));
      expect([one?.path, two?.path]).toEqual(all.slice(0, 2).map((name) => place.pathOf(name)));
    });

    test("refuses two items with the same name", async () => {
      const [one, two] = (await names(2)) as [string, string];
      const before = await sql.summarise();
      expect(await failureOf(batch.create(requestsFor([one, two, one])))).toMatchObject({
        code: "AlreadyExists",
        metadata: { index: "2" },
      });
      expect(await sql.summarise()).toEqual(before);
    });

    test("names the item and the field that is invalid", async () => {
      const [one, two] = (await names(2)) as [string, string];
      const before = await sql.summarise();
      const failure = await failureOf(batch.create([batch.requestFor(one), batch.requestFor(two, broken)]));
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: [`requests[1].${batch.field}.${brokenField}`] });
      expect(await sql.summarise()).toEqual(before);
    });

    test("lists all invalid and missing fields of all items in one error", async () => {
      const [one] = (await names(1)) as [string];
      const namedBy = protoNameOf(resource.namedBy);
      const unnamed = batch.requestFor(one, { [resource.namedBy]: "" });
      const wrong = batch.requestFor(one, { labels: { "Not A Key": "x" }, description: "Ä".repeat(5000) });
      const { fields } = await failureOf(batch.create([unnamed, batch.requestFor(one), {}, wrong]));
      expect(fields).toEqual(
        expect.arrayContaining([`requests[0].${batch.field}.${namedBy}`, `requests[2].${batch.field}`]),
      );
      if (resource.standsFor === undefined) expect(fields.join()).toContain(`requests[3].${batch.field}.`);
      expect(fields.filter((field) => field.startsWith("requests[1]"))).toEqual([]);
    });

    test("supports validate_only", async () => {
      const requests = requestsFor(await names(2));
      const before = await sql.summarise();
      const checked = await batch.create(requests, { validateOnly: true });
      expect(await sql.summarise()).toEqual(before);
      const items = await batch.create(requests);
      expect(pathsOf(checked)).toEqual(pathsOf(items));
    });

    test("with a request id, is carried out once; its repeat shows no secret", async () => {
      const requests = requestsFor(await names(2));
      const requestId = randomUUID();
      const items = await batch.create(requests, { requestId });
      const before = await sql.summarise();
      expect(await batch.create(requests, { requestId })).toEqual(items.map(withoutSecret));
      expect(await failureOf(batch.create(requests.toReversed(), { requestId }))).toMatchObject({
        code: "InvalidArgument",
        fields: ["request_id"],
      });
      expect(await sql.summarise()).toEqual(before);
      for (const { secret } of items) {
        if (secret !== undefined) expect(await sql.tablesWith(secret)).toEqual([]);
      }
    });

    test("refuses options in an item", async () => {
      const [one, two] = (await names(2)) as [string, string];
      const requests = [
        { ...batch.requestFor(one), validateOnly: true },
        { ...batch.requestFor(two), requestId: randomUUID() },
      ];
      expect(await failureOf(batch.create(requests))).toMatchObject({
        code: "InvalidArgument",
        fields: ["requests[0].validate_only", "requests[1].request_id"],
      });
    });

    test("refuses an empty batch", async () => {
      expect(await failureOf(batch.create([]))).toMatchObject({ code: "InvalidArgument", fields: ["requests"] });
    });

    test.runIf(isInParent(resource))("accepts the parent in an item in any spelling, and no other parent", async () => {
      const top = await place.top();
      const byId = place.parent.replace(top.path, top.byId);
      const spellings = [place.parent, place.parent.slice(1), byId];
      const all = await names(spellings.length);
      const requests = all.map((name, index) => ({ ...batch.requestFor(name), parentPath: spellings[index] }));
      expect(pathsOf(await batch.create(requests))).toEqual(all.map((name) => place.pathOf(name)));
      const { path: elsewhere } = await (await openWorkplace(resource, api())).top();
      const before = await sql.summarise();
      const [name] = (await names(1)) as [string];
      const others = [
        inTop(place.parent, "nowhere"),
        place.parent.replace(top.path, elsewhere),
        "nonsense",
        inTop(place.parent, "-"),
      ];
      const wrong = others.map((parentPath) => ({ ...batch.requestFor(name), parentPath }));
      const failure = await failureOf(batch.create([batch.requestFor(name), ...wrong]));
      const fields = others.map((_path, index) => `requests[${index + 1}].parent_path`);
      expect(failure).toMatchObject({ code: "InvalidArgument", fields });
      if (resource.standsFor === undefined) expect(await sql.summarise()).toEqual(before);
    });
  });
});
