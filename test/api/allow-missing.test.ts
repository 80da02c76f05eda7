// Tests allow_missing (AIP-134, 135): an Update creates what is missing, and a Delete of what is missing succeeds.
import { randomUUID } from "node:crypto";
import { type Message, create as createMessage } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { rounds } from "../support/rounds.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import {
  type WrittenResource,
  acceptsMissing,
  hasSecret,
  isInParent,
  isRunByProvider,
  maskOf,
  nameFields,
  protoNameOf,
} from "../support/written-resources.ts";
import { cases, comparable, countChanges, createItem, reportOf, withoutSecret } from "./prepared-writes.ts";

/** Two servers of one installation. */
let first: TestServer;
let second: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  first = await startTestServer();
  second = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await first.close();
});

const emptyAnswer = ({ service, type, nouns }: WrittenResource): Message => {
  const method = service.methods.find(({ name }) => name === `Delete${nouns.one}`);
  if (method === undefined) throw new Error(`${type} has no Delete`);
  return createMessage(method.output);
};

/** Excludes resources with a secret, which the Update that creates one returns and a Get does not. */
const canUpsert = (resource: WrittenResource): boolean =>
  acceptsMissing(resource, "Update") && isInParent(resource) && !hasSecret(resource);

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let onSecond: Api;
  beforeAll(() => {
    onSecond = createApi(protocol, second.url, first.operatorKey);
  });

  describe.each(ofEachShape(cases))("$name", ({ resource }) => {
    let place: Workplace;
    beforeAll(async () => {
      place = await openWorkplace(resource, createApi(protocol, first.url, first.operatorKey));
    });

    describe.runIf(canUpsert(resource))("allow_missing in an Update", () => {
      const allowMissing = true;
      const ready = async (): Promise<{ name: string; path: string }> => {
        const name = uniqueName("item");
        await place.makeWay(name);
        return { name, path: place.pathOf(name) };
      };

      test.each(["nothing else", "the same name", "other fields"])(
        "creates what is missing under the path's name, from %s",
        async (from) => {
          const { name, path } = await ready();
          const fields = {
            "nothing else": {},
            "the same name": nameFields(resource, place.org.path, name),
            "other fields": resource.change,
          }[from] as object;
          const created = await place.update(path, fields, { allowMissing });
          expect(created).toMatchObject({ path, name, ...(from === "other fields" && resource.change) });
          expect(created.id).not.toBe("");
          expect(await place.get(path)).toEqual(created);
          expect(await lastChange()).toMatchObject({
            method: `${resource.service.typeName}/Update${resource.nouns.one}`,
            resource_type: resource.type,
            resource_path: path,
            before: null,
            after: expect.anything(),
          });
          // It exists now, and is updated.
          const again = await place.update(path, resource.change, { allowMissing });
          expect(again).toMatchObject({ id: created.id, ...resource.change });
        },
      );

      const lastChange = async () => {
        const id = (await sql.query("select id from orgs where '/orgs/' || name = $1", [place.logOf]))[0]?.["id"];
        const [row] = await sql.query("select * from changes where org_id = $1 order by revision desc limit 1", [id]);
        return row;
      };

      test("creates the resource with all fields, with any mask", async () => {
        const { path } = await ready();
        const updateMask = maskOf({ etag: "" });
        expect(await place.update(path, resource.change, { allowMissing, updateMask })).toMatchObject(resource.change);
      });

      test("returns what a Create would", async () => {
        const one = await ready();
        const other = await ready();
        const upserted = comparable(await place.update(one.path, {}, { allowMissing }), "Create");
        const created = comparable(await place.create(other.name), "Create");
        expect(JSON.parse(JSON.stringify(upserted).replaceAll(one.name, other.name))).toEqual(created);
      });

      test("supports validate_only and request_id", async () => {
        const { path } = await ready();
        const rows = await sql.summarise();
        const checked = await place.update(path, resource.change, { allowMissing, validateOnly: true });
        expect(await sql.summarise()).toEqual(rows);
        const requestId = randomUUID();
        const created = await place.update(path, resource.change, { allowMissing, requestId });
        expect(comparable(checked, "Create")).toEqual(comparable(created, "Create"));
        await place.delete(path);
        expect(await place.update(path, resource.change, { allowMissing, requestId })).toEqual(created);
        expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
      });

      test("refuses a name that differs from the path, an etag, and an unknown id", async () => {
        const { path } = await ready();
        const rows = await sql.summarise();
        const field = protoNameOf(resource.namedBy);
        const renamed = nameFields(resource, place.org.path, "another");
        expect(await failureOf(place.update(path, renamed, { allowMissing }))).toMatchObject({
          code: "InvalidArgument",
          fields: [expect.stringMatching(new RegExp(`\\.${field}$`))],
        });
        const missing = { code: "NotFound", reason: "RESOURCE_NOT_FOUND" };
        for (const etag of ["1", "*"]) {
          const stale = place.update(path, { ...resource.change, etag }, { allowMissing });
          expect(await failureOf(stale)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
          const plain = place.update(path, { ...resource.change, etag });
          expect(await failureOf(plain)).toMatchObject(missing);
        }
        const byId = place.update(place.pathOf(`@${randomUUID()}`), resource.change, { allowMissing });
        expect(await failureOf(byId)).toMatchObject(missing);
        const elsewhere = path.replace(place.parent, `${place.parent}x`);
        expect(await failureOf(place.update(elsewhere, resource.change, { allowMissing }))).toMatchObject(missing);
        expect(await failureOf(place.update(path, resource.change))).toMatchObject(missing);
        expect(await sql.summarise()).toEqual(rows);
      });

      test("refuses invalid fields like a Create", async () => {
        const { name, path } = await ready();
        const inUpdate = await reportOf(place.update(path, resource.broken, { allowMissing }));
        expect(inUpdate).toMatchObject({
          code: "InvalidArgument",
          fields: [expect.stringMatching(new RegExp(`\\.${resource.brokenField}$`))],
        });
        expect(inUpdate).toEqual(await reportOf(place.create(name, {}, resource.broken)));
        const notAName = place.update(place.pathOf("Not-A-Name"), {}, { allowMissing });
        expect(await failureOf(notAName)).toMatchObject({ code: "InvalidArgument" });
      });

      test("changes an existing resource with the etag that any has", async () => {
        const { path } = await createItem(place);
        const changed = await place.update(path, { ...resource.change, etag: "*" }, { allowMissing });
        expect(changed).toEqual(await place.get(path));
      });

      test("refuses a change of an existing resource with a stale etag", async () => {
        const { path } = await createItem(place);
        const stale = place.update(path, { ...resource.change, etag: "0" }, { allowMissing });
        expect(await failureOf(stale)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
      });
    });

    describe.runIf(acceptsMissing(resource, "Delete"))("allow_missing in a Delete", () => {
      const allowMissing = true;

      test("returns an empty response for a missing resource, and changes nothing", async () => {
        const name = uniqueName("item");
        await place.makeWay(name);
        const rows = await sql.summarise();
        const paths = [place.pathOf(name), place.pathOf(`@${randomUUID()}`)];
        if (place.parent !== "" && place.pathOf(name).startsWith(place.parent)) {
          // The parent or the org can be missing, too.
          paths.push(place.pathOf(name).replace(place.parent, `${place.parent}x`));
          paths.push(place.pathOf(name).replace(place.org.path, `${place.org.path}x`));
        }
        for (const path of paths) {
          expect(await failureOf(place.delete(path))).toMatchObject({ code: "NotFound", reason: "RESOURCE_NOT_FOUND" });
          expect(await place.delete(path, { allowMissing })).toEqual(emptyAnswer(resource));
          expect(await place.delete(path, { allowMissing, etag: "1" })).toEqual(emptyAnswer(resource));
          expect(comparable(await place.delete(path, { allowMissing, validateOnly: true }), "Delete")).toEqual(
            comparable(emptyAnswer(resource) as Item, "Delete"),
          );
        }
        expect(await sql.summarise()).toEqual(rows);
      });

      test("returns an empty response to a repeat even if the resource exists by then", async () => {
        const name = uniqueName("item");
        const path = place.pathOf(name);
        await place.makeWay(name);
        const requestId = randomUUID();
        expect(await place.delete(path, { allowMissing, requestId })).toEqual(emptyAnswer(resource));
        const made = await place.create(name);
        expect(await place.delete(path, { allowMissing, requestId })).toEqual(emptyAnswer(resource));
        expect(withoutSecret(made)).toEqual(await place.get(path));
      });

      test("deletes an existing resource, unless the etag is stale", async () => {
        const { path, etag } = await createItem(place);
        const stale = place.delete(path, { allowMissing, etag: `${etag}0` });
        expect(await failureOf(stale)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
        await place.delete(path, { allowMissing, etag });
        expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
        expect(await place.delete(path, { allowMissing })).toEqual(emptyAnswer(resource));
      });

      test("succeeds in all of many concurrent calls on two servers", async () => {
        const elsewhere = place.as(onSecond);
        for (let round = 0; round < rounds(1, 3); round++) {
          const { path } = await createItem(place);
          const before = await countChanges(sql, resource);
          await Promise.all(
            Array.from({ length: 10 }, (_, turn) =>
              (turn % 2 === 0 ? place : elsewhere).delete(path, { allowMissing }),
            ),
          );
          expect(await countChanges(sql, resource)).toBe(before + 1);
        }
      });

      test.runIf(keepsDeleted(resource.definition) && !isRunByProvider(resource))(
        "returns a resource that is already deleted as it is",
        async () => {
          const { path, id } = await createItem(place);
          const deleted = await place.delete(path);
          const rows = await sql.summarise();
          expect(await failureOf(place.delete(place.pathOf(`@${id}`)))).toMatchObject({ code: "FailedPrecondition" });
          expect(await place.delete(place.pathOf(`@${id}`), { allowMissing })).toEqual(deleted);
          expect(await sql.summarise()).toEqual(rows);
        },
      );
    });
  });
});

test("PATCH with allow_missing creates from an empty object", async () => {
  const api = createApi("REST", first.url, first.operatorKey);
  const { path } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const patch = async (url: string): Promise<{ status: number; json: object }> => {
    const headers = { authorization: `Bearer ${first.operatorKey}`, "content-type": "application/json" };
    const response = await fetch(`${first.url}/iam/v1alpha${path}${url}`, { method: "PATCH", headers, body: "{}" });
    return { status: response.status, json: (await response.json()) as object };
  };
  expect(await patch("/projects/site")).toMatchObject({ status: 404 });
  expect(await patch("/projects/site?allow_missing=true")).toMatchObject({
    status: 200,
    json: { path: `${path}/projects/site`, name: "site", display_name: "site" },
  });
  // An Update never creates orgs and customers.
  expect(await patch("?allow_missing=true")).toMatchObject({ status: 400 });
});

test("over REST, nothing is created under If-Match, and what exists is changed under *", async () => {
  const org = uniqueName("acme");
  const url = `${first.url}/iam/v1alpha/orgs/${org}/members/zoe?allow_missing=true`;
  await createApi("REST", first.url, first.operatorKey).orgs.createOrg({ org: { name: org } });
  const patch = async (ifMatch: string | undefined, body = "{}"): Promise<number> => {
    const headers = { authorization: `Bearer ${first.operatorKey}`, "content-type": "application/json" };
    const all = { ...headers, ...(ifMatch !== undefined && { "if-match": ifMatch }) };
    return (await fetch(url, { method: "PATCH", headers: all, body })).status;
  };
  expect(await patch("*")).toBe(412);
  expect(await patch('"00000000-0000-0001-0000-000000000000"')).toBe(412);
  expect(await patch(undefined)).toBe(200);
  expect(await patch("*", '{"description": "new"}')).toBe(200);
  expect(await patch('"00000000-0000-0001-0000-000000000000"')).toBe(412);
});
