// Tests what resources with a name have in common, over REST and gRPC. One table has them all, so a resource that behaves
// differently fails.
import { beforeAll, describe, expect, test } from "vitest";
import { isNamed, keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import { isInParent, isRunByProvider, writtenResources, canBeRenamed } from "../support/written-resources.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const cases = writtenResources
  .filter((resource) => isNamed(resource.definition) && isInParent(resource))
  .map((resource) => ({ name: resource.name, resource }));

/** The response of later reads: only the first one has the secret. */
const withoutSecret = ({ secret: _secret, ...rest }: Item): Item => rest;

/** Returns the path with a wildcard for each parent. */
const anywhere = (parent: string): string => parent.replace(/\/([^/]+)\/[^/]+/g, "/$1/-");

test("the table has the resources of orgs that have names", () => {
  const names = cases.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["projects", "members", "API keys", "groups", "roles", "role bindings"]),
  );
});

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let api: Api;
  beforeAll(() => {
    api = createApi(protocol, server.url, server.operatorKey);
  });

  describe.each(ofEachShape(cases))("$name", ({ resource }) => {
    const field = resource.field.name;
    let place: Workplace;
    beforeAll(async () => {
      place = await openWorkplace(resource, api);
    });

    const create = (fields: { displayName?: string; labels?: Record<string, string> } = {}) =>
      place.create(uniqueName("item"), {}, fields);
    const update = (path: string, fields: object, ...paths: string[]) =>
      place.update(path, fields, { updateMask: { paths } });

    test("return what was created, by name and by id", async () => {
      const answer = await create({ displayName: "An Ítem", labels: { tier: "gold" } });
      expect(answer).toMatchObject({
        path: `${place.parent}/${resource.collection}/${answer.name}`,
        displayName: "An Ítem",
        labels: { tier: "gold" },
      });
      expect(answer.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      // A provider has changed its resource since it was created.
      if (!isRunByProvider(resource)) expect(answer.createTime).toEqual(answer.updateTime);
      const created = withoutSecret(answer);
      const top = await place.top();
      expect(await place.get(created.path)).toEqual(created);
      expect(await place.get(created.path.slice(1))).toEqual(created);
      expect(await place.get(place.pathOf(`@${created.id}`))).toEqual(created);
      expect(await place.get(created.path.replace(top.path, top.byId))).toEqual(created);
      expect(await place.get(`${anywhere(place.parent)}/${resource.collection}/@${created.id}`)).toEqual(created);
    });

    test("have their name as display name if none is given", async () => {
      const created = await create();
      expect(created.displayName).toBe(created.name);
    });

    test("have unique names in a parent", async () => {
      const { name } = await create();
      const failure = await failureOf(place.create(name));
      expect(failure).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS", metadata: { name } });
      const other = await openWorkplace(resource, api);
      await other.create(name);
    });

    test("change the fields in the mask and no others", async () => {
      const created = await create({ displayName: "Before", labels: { a: "1", b: "2" } });
      const changed = await update(created.path, { displayName: "After", labels: { c: "3" } }, "display_name");
      expect(changed).toMatchObject({ displayName: "After", labels: { a: "1", b: "2" }, name: created.name });
      expect(changed.etag).not.toBe(created.etag);
      const relabelled = await update(created.path, { labels: { a: "9" } }, "labels.a", "labels.b");
      expect(relabelled.labels).toEqual({ a: "9" });
      expect(await place.get(created.path)).toEqual(relabelled);
    });

    test.runIf(canBeRenamed(resource))(
      "can be renamed; the new name works immediately and the old one is free",
      async () => {
        const created = await create();
        const name = uniqueName("renamed");
        const renamed = await update(created.path, { name }, "name");
        expect(renamed).toMatchObject({ name, id: created.id, path: place.pathOf(name) });
        expect(await failureOf(place.get(created.path))).toMatchObject({ code: "NotFound" });
        expect(await place.get(renamed.path)).toEqual(renamed);
        const other = await create();
        expect((await update(other.path, { name: created.name }, "name")).path).toBe(created.path);
      },
    );

    test("stay as they are if an update changes nothing", async () => {
      const created = withoutSecret(await create());
      expect(await update(created.path, { displayName: created.displayName }, "display_name")).toEqual(created);
    });

    test("refuse a stale etag and accept the current one", async () => {
      const created = await create();
      const changed = await update(created.path, { description: "one" }, "description");
      const late = update(created.path, { description: "two", etag: created.etag }, "description");
      expect(await failureOf(late)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
      const header = update(
        created.path,
        { description: "two", etag: `${changed.etag}~0123456789012345678901` },
        "description",
      );
      expect(await failureOf(header)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
      await expect(header).rejects.toThrow("in If-Match");
      const lateDelete = place.delete(created.path, { etag: created.etag });
      expect(await failureOf(lateDelete)).toMatchObject({ code: "Aborted" });
      const current = await update(created.path, { description: "three", etag: changed.etag }, "description");
      await place.delete(created.path, { etag: current.etag });
    });

    test("are not found by name or in lists after their deletion", async () => {
      const created = await create();
      await place.delete(created.path);
      expect(await failureOf(place.get(created.path))).toMatchObject({
        code: "NotFound",
        reason: "RESOURCE_NOT_FOUND",
      });
      const { items } = await place.list();
      expect(items.map((item) => item.id)).not.toContain(created.id);
      expect(await failureOf(place.delete(created.path))).toMatchObject({ code: "NotFound" });
      await place.create(created.name);
    });

    test.runIf(keepsDeleted(resource.definition) && !isRunByProvider(resource))(
      "stay readable under their id when deleted, and cannot be changed",
      async () => {
        const created = await create();
        await place.delete(created.path);
        const path = place.pathOf(`@${created.id}`);
        const deleted = await place.get(path);
        expect(deleted).toMatchObject({
          path,
          name: created.name,
          deleteTime: expect.anything(),
          purgeTime: expect.anything(),
        });
        const { items } = await place.list({ showDeleted: true });
        expect(items).toContainEqual(deleted);
        const late = update(path, { description: "x" }, "description");
        expect(await failureOf(late)).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
        expect(await failureOf(place.delete(path))).toMatchObject({ code: "FailedPrecondition" });
      },
    );

    test("are listed page by page, each once, in the order of their creation", async () => {
      const own = await openWorkplace(resource, api);
      const names: string[] = [];
      for (let count = 0; count < 7; count++) names.push((await own.create(uniqueName("p"))).name);
      const seen: string[] = [];
      let pageToken = "";
      do {
        const page = await own.list({ pageSize: 3, pageToken });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map((item) => item.name));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen).toEqual(names);
    });

    test("refuse a page token of another list", async () => {
      await create();
      await create();
      const { nextPageToken } = await place.list({ pageSize: 1 });
      expect(nextPageToken).not.toBe("");
      const other = await openWorkplace(resource, api);
      const failure = await failureOf(other.list({ pageToken: nextPageToken }));
      expect(failure).toMatchObject({ code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID", fields: ["page_token"] });
    });

    test("cannot be created in a missing org or service", async () => {
      const parentPath = place.parent.replace(/^(\/\w+)\/[^/]+/, `$1/${uniqueName("nowhere")}`);
      expect(await failureOf(place.create("x", {}, {}, parentPath))).toMatchObject({ code: "NotFound" });
      expect(await failureOf(place.list({ parentPath }))).toMatchObject({ code: "NotFound" });
    });

    test("refuse invalid names and display names with the field and the rule", async () => {
      const name = await failureOf(place.create("Not A Name"));
      expect(name).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [`${field}.name`] });
      expect(name.message).toContain("lowercase letters");
      expect(await failureOf(place.create(""))).toMatchObject({ fields: [`${field}.name`] });
      const created = await create();
      const longs = { displayName: "Ä".repeat(513) };
      expect(await failureOf(update(created.path, longs, "display_name"))).toMatchObject({
        fields: [`${field}.display_name`],
        message: expect.stringContaining("at most 512 Unicode characters"),
      });
      const lowers = { displayName: "a".repeat(65) };
      expect(await failureOf(update(created.path, lowers, "display_name"))).toMatchObject({
        fields: [`${field}.display_name`],
        message: expect.stringContaining("at most 64 lowercase"),
      });
      if (!canBeRenamed(resource)) return;
      expect(await failureOf(update(created.path, { name: "" }, "name"))).toMatchObject({ fields: [`${field}.name`] });
    });

    test("refuse a `-` for a single resource", async () => {
      const around = `${anywhere(place.parent)}/${resource.collection}`;
      for (const path of [place.pathOf("-"), `${around}/x`]) {
        expect(await failureOf(place.get(path))).toMatchObject({ code: "InvalidArgument", fields: ["path"] });
      }
      const created = await create();
      expect(await failureOf(place.delete(`${around}/@${created.id}`))).toMatchObject({
        code: "InvalidArgument",
        fields: ["path"],
      });
      expect(await failureOf(place.create("x", {}, {}, anywhere(place.parent)))).toMatchObject({
        fields: ["parent_path"],
      });
    });
  });
});
