// Tests the limits on the number of resources in a parent, and the number of existing ones (`total_size`).
import { QuotaFailureSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import type { Limits } from "../../src/standard-methods/definition/limits.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Workplace, openWorkplace } from "../support/workplace.ts";
import { isInParent, isRunByProvider, stateVerbsOf, verbsOf, writtenResources } from "../support/written-resources.ts";

/** The limit of each resource. */
const most = 3;
const limits: Limits = Object.fromEntries(
  registry.definitions.flatMap(({ type, limit }) => (limit === undefined ? [] : [[type, most]])),
);

/** Two servers of one installation with low limits, and one with the default limits. */
let first: TestServer;
let second: TestServer;
let roomy: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  first = await startTestServer({ limits });
  second = await startTestServer({ databaseUrl: first.databaseUrl, limits });
  roomy = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  for (const server of [roomy, second, first]) await server.close();
});

const limited = writtenResources
  .filter((resource) => verbsOf(resource).includes("Create"))
  // The number of services is not limited.
  .filter((resource) => isInParent(resource) || resource.parentField !== undefined)
  .map((resource) => ({ name: resource.name, resource }));

test("every resource that is created in another one has a limit", () => {
  const types = new Set(limited.map(({ resource }) => resource.type));
  // Access requests are created by members alone: test/iam/access-requests.
  expect([...types, "AccessRequest"].toSorted()).toEqual(Object.keys(limits).toSorted());
});

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  describe.each(ofEachShape(limited))("$name", ({ resource }) => {
    const { type, nouns, definition } = resource;
    const { countedBy, expireField } = definition.storage;
    let place: Workplace;
    const open = async (): Promise<void> => {
      place = await openWorkplace(resource, createApi(protocol, first.url, first.operatorKey));
    };
    /** Creates what an item requires on the server with default limits, so that only the items reach a limit. */
    const wayMaker = () => place.as(createApi(protocol, roomy.url, first.operatorKey));
    const make = async (at: Workplace = place) => {
      const name = uniqueName("item");
      await wayMaker().makeWay(name);
      return at.create(name);
    };
    /** A customer has an org from the start. */
    const room = type === "Org" ? most - 1 : most;

    test("beyond the limit are refused with the limit in the error, and not created", async () => {
      await open();
      for (let each = 0; each < room; each++) await make();
      const before = await sql.query("select * from resource_counts order by 1, 2, 3");
      const call = make();
      const failure = await failureOf(call);
      expect(failure).toMatchObject({ code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" });
      // Some are limited per org, in any parent within it.
      const holder = countedBy === "org_id" ? place.org.path : place.parent;
      expect(failure.metadata).toMatchObject({ resource: holder, limit: String(most) });
      expect(failure.message).toContain(holder);
      const error = await call.catch((thrown: unknown) => thrown);
      const [quota] = ConnectError.from(error).findDetails(QuotaFailureSchema);
      expect(quota?.violations).toMatchObject([{ subject: holder, description: failure.message }]);
      if (resource.standsFor === undefined) {
        expect(await sql.query("select * from resource_counts order by 1, 2, 3")).toEqual(before);
      }
    });

    test("can be created again when one is deleted", async () => {
      await open();
      const items = [];
      for (let each = 0; each < room; each++) items.push(await make());
      expect(await failureOf(make())).toMatchObject({ reason: "LIMIT_EXCEEDED" });
      await place.delete(items[0]?.path ?? "");
      await make();
      expect(await failureOf(make())).toMatchObject({ reason: "LIMIT_EXCEEDED" });
      // test/resources/undelete.test.ts has the limit for what a provider restores.
      if (stateVerbsOf(resource).length === 0 || isRunByProvider(resource)) return;
      const path = place.pathOf(`@${items[0]?.id}`);
      expect(await failureOf(place.change("Undelete", path))).toMatchObject({ reason: "LIMIT_EXCEEDED" });
      await place.delete(items[1]?.path ?? "");
      await place.change("Undelete", path);
    });

    test("never exceed the limit when many are created concurrently on two servers", async () => {
      await open();
      const elsewhere = place.as(createApi(protocol, second.url, first.operatorKey));
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, each) => make(each % 2 ? place : elsewhere)),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(room);
    });

    // The count includes expired items, so lists of resources that expire do not show it.
    test.skipIf(countedBy === undefined || expireField !== undefined)(
      "are counted in the lists of one parent",
      async () => {
        await open();
        const total = async (options = {}) => (await place.list(options)).totalSize;
        expect(await total()).toBe(0);
        const [one] = [await make(), await make()];
        // The nested groups of a parent exist as groups before.
        expect(await total({ pageSize: 1 })).toBe(2);
        await place.delete(one.path);
        expect(await total()).toBe(1);
        expect(await total({ filter: "create_time > 2000-01-01T00:00:00Z" })).toBeUndefined();
        const lists = resource.service.methods.find(({ name }) => name === `List${nouns.many}`);
        if (lists?.input.fields.some(({ name }) => name === "show_deleted")) {
          expect(await total({ showDeleted: true })).toBeUndefined();
        }
        expect(await total({ parentPath: place.parent.replace(/[^/]+$/, "-") })).toBeUndefined();
      },
    );
  });
});

test("the counts match the rows, also after removals along with another resource", async () => {
  const api = createApi("gRPC", roomy.url, first.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const parentPath = org.path;
  const group = await api.groups.createGroup({ parentPath, group: { name: "outer" } });
  const inner = await api.groups.createGroup({ parentPath, group: { name: "inner" } });
  await api.groupMembers.createSubgroup({ parentPath: group.path, subgroup: { groupPath: inner.path } });
  for (const name of ["alice", "bob"]) {
    const member = await api.members.createMember({ parentPath, member: { name } });
    for (const { path } of [group, inner]) {
      await api.groupMembers.createGroupMember({ parentPath: path, groupMember: { memberPath: member.path } });
    }
    await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "ci" } });
  }
  const counts = async () => {
    const rows = await sql.query(
      "select resource_type, sum(count)::int as count from resource_counts where org_id = $1 and count > 0 group by 1",
      [org.id],
    );
    return Object.fromEntries(rows.map(({ resource_type: type, count }) => [type, count]));
  };
  expect(await counts()).toEqual({ Member: 2, ApiKey: 2, Group: 2, GroupMember: 4, Subgroup: 1 });
  await api.groups.deleteGroup({ path: inner.path });
  expect(await counts()).toEqual({ Member: 2, ApiKey: 2, Group: 1, GroupMember: 2 });
  await api.members.deleteMember({ path: `${parentPath}/members/alice` });
  expect(await counts()).toEqual({ Member: 1, ApiKey: 2, Group: 1, GroupMember: 2 });
});
