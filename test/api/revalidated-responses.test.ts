// Responses that are reused are never older than their requests: what one server has written, another one returns at once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import {
  type ResourceDefinition,
  type ResourcePlace,
  keepsDeleted,
} from "../../src/standard-methods/definition/definition.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type Workplace, openWorkplace } from "../support/workplace.ts";
import { type WrittenResource, writtenIn, writtenResources } from "../support/written-resources.ts";

let one: SharedServer;
let other: SharedServer;
let sql: SqlClient;
let writer: Api;
/** Another server, for the operator, whose own org is the org `system`. */
let reader: Api;
/** The same, for a member of the org that the tests write in. */
let own: Api;
let org: { readonly path: string; readonly customerPath: string };

beforeAll(async () => {
  one = await sharedServer();
  other = await secondSharedServer();
  sql = await openSqlClient(one.databaseUrl);
  writer = createApi("gRPC", one.url, one.operatorKey);
  reader = createApi("Connect", other.url, one.operatorKey);
  org = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const parentPath = org.path;
  const { path } = await writer.members.createMember({ parentPath, member: { name: "reader", type: 2 } });
  await writer.roleBindings.createRoleBinding({
    parentPath,
    roleBinding: { name: "reader", rolePath: "/roles/viewer", subjectPath: path },
  });
  const key = await writer.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "reader" } });
  own = createApi("REST", other.url, key.secret);
});

afterAll(async () => {
  await sql.close();
});

interface Case {
  readonly name: string;
  readonly resource: WrittenResource;
  readonly place: ResourcePlace;
}

const responsesOf = (definition: ResourceDefinition, { responses }: ResourcePlace) => responses ?? definition.responses;

/** All resources whose responses are reused, in each place where they are. */
const cases: readonly Case[] = registry.definitions.flatMap((definition) =>
  definition.places.flatMap((place, index) =>
    "neverRevalidated" in responsesOf(definition, place)
      ? []
      : [{ name: place.pattern.join("/"), resource: writtenIn(definition, place, index), place }],
  ),
);

/** A place where the writer writes, and readers on the other server. */
async function openPlace({ resource, place }: Case): Promise<{ writing: Workplace; readers: readonly Workplace[] }> {
  const [top] = place.pattern;
  const isOfSystem = resource.type === "RoleBinding" && top !== "orgs";
  // Only members and groups of the org `system` can have roles on services and on the platform.
  const around = isOfSystem ? await writer.orgs.getOrg({ path: "/orgs/system" }) : org;
  const writing = await openWorkplace(resource, writer, around);
  const isOpen = top === "orgs" ? resource.type !== "Org" : !isOfSystem && resource.type !== "Customer";
  return { writing, readers: (isOpen ? [reader, own] : [reader]).map((api) => writing.as(api)) };
}

/** Reads again, so that the response is kept, and expects the same each time. */
async function see<Value>(read: () => Promise<Value>): Promise<Value> {
  const first = await read();
  for (let time = 0; time < rounds(1, 3); time++) expect(await read()).toEqual(first);
  return first;
}

test("the responses of these resources are not reused", () => {
  const left = registry.definitions.flatMap((definition) =>
    definition.places
      .filter((place) => "neverRevalidated" in responsesOf(definition, place))
      .map(({ pattern }) => pattern),
  );
  expect(left.map((pattern) => pattern.join("/")).toSorted()).toEqual([
    "customers",
    "customers/contacts",
    "customers/roleBindings",
    "customers/webhooks",
    "orgs",
    "orgs/accessRequests",
    "orgs/members/apiKeys",
    "orgs/members/sessions",
    "orgs/projects/operations",
    "orgs/quotaRequests",
  ]);
});

describe.each(cases)("$name", (each) => {
  test("what one server has written, another one returns at once", async () => {
    const { writing, readers } = await openPlace(each);
    // The readers take turns, and `npm run soak` reads as each of them.
    const inTurn = readers.filter((_, reading) => reading === cases.indexOf(each) % readers.length);
    for (let round = 0; round < rounds(1, 300); round++) {
      for (const place of rounds(inTurn, readers)) {
        const name = uniqueName("new");
        const filter = `name = "${name}"`;
        const before = await see(() => place.list());
        await writing.makeWay(name);
        expect(await see(() => place.list({ filter }))).toMatchObject({ items: [] });
        const created = await writing.create(name);
        const longer = await see(() => place.list());
        expect(longer.items).toHaveLength(before.items.length + 1);
        expect(longer.totalSize).toBe(before.totalSize === undefined ? undefined : before.totalSize + 1);
        expect(await see(() => place.get(created.path))).toMatchObject({ id: created.id, etag: created.etag });
        expect((await see(() => place.list({ filter }))).items).toMatchObject([{ etag: created.etag }]);
        const updated = await writing.update(created.path, each.resource.change);
        expect(await see(() => place.get(created.path))).toEqual(updated);
        expect((await see(() => place.list({ filter }))).items).toEqual([updated]);
        await writing.delete(created.path);
        await expect(place.get(created.path)).rejects.toThrow("there is no");
        expect((await see(() => place.list({ filter }))).items).toEqual([]);
        // The list is as it was, and says at which revision that was read.
        const { items, totalSize } = await see(() => place.list());
        expect({ items, totalSize }).toEqual({ items: before.items, totalSize: before.totalSize });
      }
    }
  });
});

describe.each(ofEachShape(cases))("$name", (each) => {
  test("what is read again is in memory until its org has the next revision", async () => {
    const { writing, readers } = await openPlace(each);
    const { table, id } = each.resource.definition.storage;
    for (const place of readers) {
      const name = uniqueName("kept");
      await writing.makeWay(name);
      const created = await writing.create(name);
      const got = await see(() => place.get(created.path));
      const listed = await see(() => place.list());
      // Past the service, so without a revision.
      await sql.query(`update ${table} set create_time = create_time - interval '1 day' where ${id} = $1`, [
        created.id,
      ]);
      expect(await place.get(created.path)).toEqual(got);
      expect(await place.list()).toEqual(listed);
      await writing.update(created.path, each.resource.change);
      expect((await place.get(created.path)).createTime).not.toEqual(got.createTime);
      expect(await place.list()).not.toEqual(listed);
      await writing.delete(created.path);
    }
  });
});

/** Lists of all resources that may be read each time: with deleted items, or because nothing revalidates them. */
const unkept: readonly Case[] = writtenResources
  .filter(({ definition, place }) => "neverRevalidated" in responsesOf(definition, place) || keepsDeleted(definition))
  .map((resource) => ({ name: resource.place.pattern.join("/"), resource, place: resource.place }));

describe.each(ofEachShape(unkept))("a list of $name that is read each time", (each) => {
  test("has what the database has", async () => {
    const { definition } = each.resource;
    const { table, id } = definition.storage;
    const { writing, readers } = await openPlace(each);
    for (const place of readers) {
      const name = uniqueName("listed");
      const filter = `name = "${name}"`;
      const showDeleted = keepsDeleted(definition);
      const list = async () => (await place.list({ filter, ...(showDeleted && { showDeleted }) })).items;
      await writing.makeWay(name);
      expect(await see(list)).toEqual([]);
      const created = await writing.create(name);
      const [listed] = await see(list);
      expect(listed).toMatchObject({ id: created.id, etag: created.etag });
      // Past the service, so without a revision.
      await sql.query(`update ${table} set create_time = create_time - interval '1 day' where ${id} = $1`, [
        created.id,
      ]);
      const [moved] = await see(list);
      expect(moved).toEqual({ ...listed, createTime: moved?.createTime });
      expect(moved?.createTime).not.toEqual(listed?.createTime);
    }
  });
});

test("the new name of an org is in the paths of what is in it", async () => {
  const list = () => own.members.listMembers({ parentPath: org.path });
  await see(list);
  const name = uniqueName("renamed");
  org = await writer.orgs.updateOrg({ path: org.path, org: { name } });
  for (const { path } of (await see(list)).members) expect(path).toContain(`/orgs/${name}/`);
});

test("the new name of a customer is in its orgs, also for a caller from another org", async () => {
  const get = () => own.orgs.getOrg({ path: org.path });
  const name = uniqueName("renamed");
  await see(get);
  await writer.customers.updateCustomer({ path: org.customerPath, customer: { name } });
  expect(await see(get)).toMatchObject({ customerPath: `/customers/${name}` });
});

test("a provider in the org `system` has its new name in the identities of other orgs", async () => {
  const provider = { issuer: "https://login.example.com", clientId: "tenantry", name: uniqueName("shared") };
  const { path: identityProviderPath } = await writer.identityProviders.createIdentityProvider({
    parentPath: "/orgs/system",
    identityProvider: provider,
  });
  const parentPath = `${org.path}/members/reader`;
  const identity = { name: "shared", identityProviderPath, subject: "reader" };
  const { path } = await writer.identities.createIdentity({ parentPath, identity });
  const read = async () => [
    await own.identities.getIdentity({ path }),
    ...(await own.identities.listIdentities({ parentPath })).identities,
  ];
  await see(read);
  const renamed = { name: uniqueName("renamed") };
  await writer.identityProviders.updateIdentityProvider({ path: identityProviderPath, identityProvider: renamed });
  for (const each of await see(read))
    expect(each.identityProviderPath).toBe(`/orgs/system/identityProviders/${renamed.name}`);
});

test("a member that may no longer list gets no kept response", async () => {
  const list = () => own.projects.listProjects({ parentPath: org.path });
  await see(list);
  await writer.roleBindings.deleteRoleBinding({ path: `${org.path}/roleBindings/reader` });
  await expect(list()).rejects.toThrow("iam.projects.list");
});
