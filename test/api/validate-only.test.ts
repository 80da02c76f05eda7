// Tests validate_only (AIP-163): every write returns what a real call would, and changes nothing.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import { type Verb, canBeRenamed, maskOf, writtenResource } from "../support/written-resources.ts";
import { type Write, cases, comparable, createItem, prepare, reportOf, verbsInTurn } from "./prepared-writes.ts";

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

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  describe.each(ofEachShape(cases))("$name", ({ resource, verbs }) => {
    let place: Workplace;
    beforeAll(async () => {
      place = await openWorkplace(resource, createApi(protocol, server.url, server.operatorKey));
    });

    describe("validate_only", () => {
      test.each(verbs)(
        "%s returns what a real call would, changes nothing, and stores nothing for a request id",
        async (verb) => {
          const { path, write } = await prepare(verb, resource, place);
          const requestId = randomUUID();
          const read = async () => ({ all: await sql.summarise(), listed: await place.list() });
          const before = await read();
          const checked = await write({ validateOnly: true, requestId });
          expect(comparable(await write({ validateOnly: true, requestId }), verb)).toEqual(comparable(checked, verb));
          expect(await read()).toEqual(before);
          if (verb === "Create") expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
          else await place.get(path);
          expect(comparable(checked, verb)).toEqual(comparable(await write({ requestId }), verb));
          expect(await sql.summarise()).not.toEqual(before.all);
        },
      );

      test.each(verbsInTurn(resource, verbs, 0))("%s returns every error of a real call", async (verb) => {
        const before = await failingWrites(verb);
        const rows = await sql.summarise();
        for (const [code, write] of before) {
          const checked = await reportOf(write({ validateOnly: true }));
          expect(checked).toMatchObject({ code });
          expect(await reportOf(write({}))).toEqual(checked);
        }
        expect(await sql.summarise()).toEqual(rows);
      });

      const failingWrites = async (verb: Verb): Promise<[code: string, write: Write][]> => {
        const item = await createItem(place);
        const other = await createItem(place);
        const unmade = uniqueName("item");
        await place.makeWay(unmade);
        const missing = place.pathOf(unmade);
        const withoutParent: [string, Write] = [
          "NotFound",
          (options) => place.create(unmade, options, {}, `${place.parent}x`),
        ];
        switch (verb) {
          case "Create":
            return [
              ["AlreadyExists", (options) => place.create(item.name, options)],
              ["InvalidArgument", (options) => place.create(unmade, options, resource.broken)],
              ["InvalidArgument", (options) => place.create("Not A Name", options)],
              ...(place.parent === "" ? [] : [withoutParent]),
            ];
          case "Update":
            return [
              ["Aborted", (options) => place.update(item.path, { ...resource.change, etag: "0" }, options)],
              ["InvalidArgument", (options) => place.update(item.path, resource.broken, options)],
              [
                "InvalidArgument",
                (options) => place.update(item.path, {}, { ...options, updateMask: maskOf({ no: 1 }) }),
              ],
              ["NotFound", (options) => place.update(missing, resource.change, options)],
              [
                canBeRenamed(resource) ? "AlreadyExists" : "InvalidArgument",
                (options) =>
                  place.update(
                    item.path,
                    { [resource.namedBy]: resource.standsFor === undefined ? other.name : "/x" },
                    options,
                  ),
              ],
            ];
          case "Delete":
            return [
              ["Aborted", (options) => place.delete(item.path, { ...options, etag: "0" })],
              ["NotFound", (options) => place.delete(missing, options)],
            ];
        }
      };
    });
  });

  test("validate_only of the creation of an API key creates no key that works", async () => {
    const place = await openWorkplace(writtenResource("ApiKey"), createApi(protocol, server.url, server.operatorKey));
    const call = ({ secret }: Item) => failureOf(createApi(protocol, server.url, secret).orgs.listOrgs({}));
    const checked = await place.create(uniqueName("key"), { validateOnly: true });
    expect(await call(checked)).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
    // A real key is accepted, although its member has no permissions.
    expect(await call(await place.create(uniqueName("key")))).toMatchObject({ code: "PermissionDenied" });
  });

  test("validate_only returns the errors of rules that only one resource has", async () => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const parentPath = org.path;
    for (const name of ["outer", "inner"]) await api.groups.createGroup({ parentPath, group: { name } });
    const [outer, inner] = ["outer", "inner"].map((name) => `${parentPath}/groups/${name}`) as [string, string];
    await api.groupMembers.createSubgroup({ parentPath: outer, subgroup: { groupPath: inner } });
    const calls: [reason: string, call: (validateOnly: boolean) => Promise<unknown>][] = [
      ["LAST_ORG", (validateOnly) => api.orgs.deleteOrg({ path: org.path, validateOnly })],
      ["OPERATOR_PROTECTED", (validateOnly) => api.orgs.deleteOrg({ path: "orgs/system", validateOnly })],
      [
        "OPERATOR_PROTECTED",
        (validateOnly) => api.customers.deleteCustomer({ path: "customers/system", validateOnly }),
      ],
      ["RESOURCE_EXISTS", (validateOnly) => api.orgs.createOrg({ org: { name: org.name }, validateOnly })],
    ];
    for (const [parent, groupPath, reason] of [
      [inner, outer, "SUBGROUP_CYCLE"],
      [inner, inner, "SUBGROUP_CYCLE"],
      [outer, `${outer}x`, "RESOURCE_NOT_FOUND"],
      [outer, "/orgs/system/groups/x", "FIELD_INVALID"],
    ] as const) {
      const subgroup = { groupPath };
      calls.push([
        reason,
        (validateOnly) => api.groupMembers.createSubgroup({ parentPath: parent, subgroup, validateOnly }),
      ]);
    }
    const rows = await sql.summarise();
    for (const [reason, call] of calls) {
      const checked = await reportOf(call(true));
      expect(checked).toMatchObject({ reason });
      expect(await reportOf(call(false))).toEqual(checked);
    }
    expect(await sql.summarise()).toEqual(rows);
  });

  test("validate_only of an org that would get its own customer creates neither", async () => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const name = uniqueName("acme");
    const rows = await sql.summarise();
    const checked = await api.orgs.createOrg({ org: { name }, validateOnly: true });
    expect(checked).toMatchObject({ path: `/orgs/${name}`, customerPath: `/customers/${name}` });
    expect(await sql.summarise()).toEqual(rows);
  });
});
