// Tests that the contents of an org or a project, at any depth, are read-only while it is suspended or deleted, over REST and
// gRPC.
import { beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, callMethod, openWorkplace } from "../support/workplace.ts";
import {
  type WrittenResource,
  acceptsMissing,
  isRunByProvider,
  nameFields,
  stateVerbsOf,
  verbsOf,
  writtenResource,
  writtenResources,
} from "../support/written-resources.ts";
import { ofEachShape } from "../support/resource-shapes.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** Each resource with each of its ancestors that lock their contents. */
const cases = writtenResources.flatMap((resource) =>
  resource.place.parents.flatMap(({ type }, level) => {
    if (registry.definitionOf(type).lifecycle?.contents !== "locked") return [];
    return [{ name: resource.name, resource, around: type, level }];
  }),
);

test("the cases include direct and indirect contents", () => {
  const pairs = cases.map(({ name, around }) => [name, around]);
  expect(pairs).toEqual(
    expect.arrayContaining([
      ["API keys", "Org"],
      ["role bindings of projects", "Project"],
    ]),
  );
});

interface Locked {
  readonly place: Workplace;
  readonly item: Item;
  /** Changes the state of the ancestor. */
  readonly change: (verb: "Suspend" | "Activate" | "Delete" | "Undelete") => Promise<object>;
  /** Every write method of the item's resource. */
  readonly writes: readonly (readonly [name: string, write: () => Promise<unknown>])[];
}

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  const open = async (resource: WrittenResource, around: ResourceType, level: number): Promise<Locked> => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const place = await openWorkplace(resource, api);
    // The last org of a customer cannot be deleted.
    const { customerPath } = place.org;
    await api.orgs.createOrg({ org: { name: uniqueName("stays"), customerPath } });
    const [name, other] = [uniqueName("kept"), uniqueName("other")];
    await place.makeWay(name);
    await place.makeWay(other);
    const item = await place.get((await place.create(name)).path);
    const { nouns } = resource;
    const inBatch = { ...place.fieldsOf(other), ...nameFields(resource, place.org.path, other) };
    const batches = {
      BatchCreate: { requests: [{ [resource.field.localName]: inBatch }] },
      BatchDelete: { paths: [item.path] },
    };
    const upsert: [string, () => Promise<unknown>] = [
      "Update that may create",
      () => place.update(place.pathOf(other), {}, { allowMissing: true }),
    ];
    const writes: [string, () => Promise<unknown>][] = [
      ["Create", () => place.create(other)],
      ["Update", () => place.update(item.path, resource.change)],
      ["Update that changes nothing", () => place.update(item.path, {})],
      ["Delete", () => place.delete(item.path)],
      ...(acceptsMissing(resource, "Update") ? [upsert] : []),
      ...Object.entries(batches)

        .map(([verb, request]): [string, () => Promise<unknown>] => [
          verb,
          () => callMethod(resource, api, `${verb}${nouns.many}`, { parentPath: place.parent, ...request }),
        ]),
      ...stateVerbsOf(resource).map((verb): [string, () => Promise<unknown>] => [
        verb,
        () => place.change(verb, item.path),
      ]),
    ];
    expect(verbsOf(resource)).toEqual(["Create", "Update", "Delete"]);
    const holder = place.parent
      .split("/")
      .slice(0, 1 + 2 * (level + 1))
      .join("/");
    const holderResource = writtenResource(around);
    const { id } = (await callMethod(holderResource, api, `Get${around}`, { path: holder })) as Item;
    const byId = `${holder.slice(0, holder.lastIndexOf("/"))}/@${id}`;
    return {
      place,
      item,
      writes,
      change: (verb) => callMethod(holderResource, api, `${verb}${around}`, { path: byId }),
    };
  };

  describe.each(ofEachShape(cases))("$name, in the $around", ({ resource, around, level }) => {
    test("while that is suspended, everything can be read and nothing changed", async () => {
      const { place, item, change, writes } = await open(resource, around, level);
      await change("Suspend");
      for (const [name, write] of writes) {
        expect(await failureOf(write()), name).toMatchObject({
          reason: "STATE_FORBIDS",
          metadata: { state: "SUSPENDED" },
          message: expect.stringContaining("nothing in it can be changed") as string,
        });
      }
      expect(await place.get(item.path)).toEqual(item);
      expect((await place.list()).items).toEqual([item]);
      await change("Activate");
      await place.update(item.path, resource.change);
    });

    // What a provider runs is deleted with its project or org: test/resources/sweeps.test.ts.
    test.skipIf(isRunByProvider(resource))(
      "the same while that is deleted; after an undelete, everything is as before",
      async () => {
        const { place, item, change, writes } = await open(resource, around, level);
        await change("Delete");
        for (const [name, write] of writes) {
          const { reason = "" } = await failureOf(write());
          expect(["STATE_FORBIDS", "RESOURCE_NOT_FOUND"], name).toContain(reason);
        }
        await change("Undelete");
        expect(await place.get(item.path)).toEqual(item);
        await place.delete(item.path);
      },
    );
  });
});
