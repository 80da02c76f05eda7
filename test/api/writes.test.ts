// Tests what all writes have in common, over REST and gRPC: validate_only (AIP-163), request_id (AIP-155) and allow_missing
// (AIP-134, 135). One table has all resources, so a resource that behaves differently fails.
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { OperationSchema } from "../../gen/resources/v1alpha/operation_pb.ts";
import { randomUUID } from "node:crypto";
import { type Message, create as createMessage } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ResourceType, isSingletonType } from "../../src/paths/patterns.ts";
import { keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type Failure, failureOf } from "../support/failure.ts";
import { runInTurn } from "../support/in-turn.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols, protocolsInTurn } from "../support/transports.ts";
import { type Item, type Workplace, type WriteOptions, openWorkplace } from "../support/workplace.ts";
import {
  type Verb,
  type WrittenResource,
  acceptsMissing,
  canBeRenamed,
  casesOver,
  hasSecret,
  isInParent,
  isRunByProvider,
  maskOf,
  nameFields,
  oneOfEachKind,
  protoNameOf,
  verbsOf,
  writtenResource,
  writtenResources,
} from "../support/written-resources.ts";

/** Two servers of one installation, and a third one that has another operator. */
let first: TestServer;
let second: TestServer;
let third: TestServer;
let thirdKey: string;
let sql: SqlClient;
beforeAll(async () => {
  first = await startTestServer();
  second = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
  thirdKey = await makeOperator();
  third = await startTestServer({ databaseUrl: first.databaseUrl });
});
afterAll(async () => {
  await sql.close();
  for (const server of [third, second, first]) await server.close();
});

/** Makes another member the operator of servers that start from now on. Returns an API key of this member. */
async function makeOperator(): Promise<string> {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const member = await api.members.createMember({ parentPath: "orgs/system", member: { name: "other", type: 2 } });
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "first" } });
  await sql.query("update installation set operator_id = $1", [member.id]);
  return secret;
}

type Write = (options?: WriteOptions) => Promise<Item>;

/** A write that can be sent, and its item. */
interface Prepared {
  readonly name: string;
  readonly path: string;
  readonly write: Write;
}

async function prepare(verb: Verb, resource: WrittenResource, place: Workplace): Promise<Prepared> {
  const name = uniqueName("item");
  const path = place.pathOf(name);
  await place.makeWay(name);
  if (verb !== "Create") await place.create(name);
  return { name, path, write: writeOf(verb, resource, place, name, path) };
}

function writeOf(verb: Verb, { change }: WrittenResource, place: Workplace, name: string, path: string): Write {
  switch (verb) {
    case "Create":
      return (options) => place.startCreate(name, options);
    case "Update":
      return (options) => place.update(path, change, { ...options, updateMask: maskOf(change) });
    case "Delete":
      return (options) => place.startDelete(path, options);
  }
}

/** Carries out what a write has started: that of an item with a provider returns an Operation. */
async function finish(verb: Verb, place: Workplace, answer: Item): Promise<void> {
  if (verb !== "Update") await place.finish(answer);
}

/** Returns a response without the fields that may differ between two equal calls. */
function comparable(answer: Item, verb: Verb): object {
  const { etag: _etag, accessPreview: _preview, ...rest } = answer as Item & { accessPreview?: unknown };
  const isOperation = answer.$typeName === OperationSchema.typeName;
  const times = new Set(["createTime", "updateTime", "deleteTime", "purgeTime"]);
  // Both must have one, or neither.
  const shown = Object.entries(rest).map(([key, value]) => [key, times.has(key) ? typeof value : value]);
  const { id, secret, prefix, ...fields } = Object.fromEntries(shown) as Record<string, unknown>;
  // An Operation is a new one, whatever it does, and its path has its id.
  if (isOperation) return { ...fields, path: typeof fields["path"] };
  return { ...fields, ...(verb === "Create" ? { secret: typeof secret, prefix: typeof prefix } : { id }) };
}

const withoutSecret = ({ secret: _secret, ...rest }: Item): object => rest;

/** Returns a failure without what differs from call to call. */
const reportOf = async (call: Promise<unknown>): Promise<Failure> => ({ ...(await failureOf(call)), requestId: "" });

const emptyAnswer = ({ service, type, nouns }: WrittenResource): Message => {
  const method = service.methods.find(({ name }) => name === `Delete${nouns.one}`);
  if (method === undefined) throw new Error(`${type} has no Delete`);
  return createMessage(method.output);
};

const cases = writtenResources.map((resource) => ({ name: resource.name, resource, verbs: verbsOf(resource) }));
/**
 * The resources for the slow tests of request ids. All resources have the tests of repeats. How ids are compared, kept and
 * removed depends neither on the resource nor on the protocol, so that one resource of each kind is enough.
 */
const idSample = new Set(rounds(oneOfEachKind(cases), cases).map(({ resource }) => resource));

/** Excludes resources with a secret, which the Update that creates one returns and a Get does not. */
const canUpsert = (resource: WrittenResource): boolean =>
  acceptsMissing(resource, "Update") && isInParent(resource) && !hasSecret(resource);

test("the table has every write of every service, and each has the options", () => {
  const table = new Set(
    cases.flatMap(({ resource }) =>
      verbsOf(resource).map((verb) => `${resource.service.typeName}/${verb}${resource.nouns.one}`),
    ),
  );
  for (const service of services) {
    for (const { name, input } of service.methods) {
      const [, verb, type] = /^(Create|Update|Delete)(.+)$/.exec(name) ?? [];
      // Tokens start sessions, which have their own tests.
      if (verb === undefined || service === SessionsService) continue;
      const fields = input.fields.map((field) => field.name);
      const isNamed = !isSingletonType(type ?? "");
      const resource = isNamed ? writtenResource(type as ResourceType) : undefined;
      const upsert = verb === "Update" && resource !== undefined && isInParent(resource);
      // An Operation always has a resource.
      const mayMiss = resource === undefined || !isRunByProvider(resource);
      const shared = [
        "validate_only",
        "request_id",
        ...(mayMiss && (upsert || verb === "Delete") ? ["allow_missing"] : []),
      ];
      expect(fields, name).toEqual(expect.arrayContaining(shared));
      // Singletons are not created or deleted, and have their own tests.
      if (isNamed) expect(table).toContain(`${service.typeName}/${name}`);
    }
  }
});

describe.each(protocolsInTurn(["REST", "gRPC"]))("over %s", (protocol) => {
  /** Clients of the two other servers. */
  let onSecond: Api;
  let onThird: Api;
  beforeAll(() => {
    onSecond = createApi(protocol, second.url, first.operatorKey);
    onThird = createApi(protocol, third.url, thirdKey);
  });

  describe.each(casesOver(protocol, cases))("$name", ({ resource, verbs }) => {
    runInTurn(writtenResources.indexOf(resource), 4);
    let place: Workplace;
    beforeAll(async () => {
      place = await openWorkplace(resource, createApi(protocol, first.url, first.operatorKey));
    });

    const make = async (): Promise<Item> => {
      const name = uniqueName("item");
      await place.makeWay(name);
      return place.create(name);
    };
    const sampledVerbs = idSample.has(resource) ? verbs : [];

    describe("validate_only", () => {
      test.each(verbs)("%s returns what a real call would, and changes nothing", async (verb) => {
        const { path, write } = await prepare(verb, resource, place);
        const read = async () => ({ all: await sql.summarise(), listed: await place.list() });
        const before = await read();
        const checked = await write({ validateOnly: true });
        expect(await read()).toEqual(before);
        if (verb === "Create") expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
        else await place.get(path);
        expect(comparable(checked, verb)).toEqual(comparable(await write(), verb));
      });

      test.each(verbs)("%s stores nothing for a request id", async (verb) => {
        const { write } = await prepare(verb, resource, place);
        const requestId = randomUUID();
        const before = await sql.summarise();
        await write({ validateOnly: true, requestId });
        await write({ validateOnly: true, requestId });
        expect(await sql.summarise()).toEqual(before);
        await write({ requestId });
        expect(await sql.summarise()).not.toEqual(before);
      });

      test.each(verbs)("%s returns every error of a real call", async (verb) => {
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
        const item = await make();
        const other = await make();
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

    describe("request_id", () => {
      const reserves = resource.definition.lifecycle?.deletedNames === "reserved";
      /** Creates an item with the name of a deleted one. If the name is reserved, undeletes that one instead. */
      const makeAgain = (name: string, { id }: Item): Promise<Item> =>
        reserves ? place.change("Undelete", place.pathOf(`@${id}`)) : place.create(name);
      /** Restores the item as it was before the Update, or replaces it with an equal one. */
      const changeBack = async (name: string, path: string): Promise<void> => {
        if (reserves) await place.update(path, { displayName: name });
        else {
          await place.delete(path);
          await place.create(name);
        }
      };
      /** Frees the name of an item. */
      const free = (path: string): Promise<Item> =>
        reserves ? place.update(path, { name: uniqueName("moved") }) : place.delete(path);

      test.each(verbs)(
        "a repeated %s returns the same response and does nothing; the log has one change",
        async (verb) => {
          const { write } = await prepare(verb, resource, place);
          const requestId = randomUUID();
          const changes = await countChanges(resource);
          const answer = await write({ requestId });
          expect(await countChanges(resource)).toBe(changes + 1);
          const rows = await sql.summarise();
          for (const id of [requestId, requestId, requestId.toUpperCase()]) {
            expect(await write({ requestId: id })).toEqual(withoutSecret(answer));
          }
          expect(await sql.summarise()).toEqual(rows);
        },
      );

      test.each(verbs)("a repeated %s does so even if the item has since been changed or deleted", async (verb) => {
        const { name, path, write } = await prepare(verb, resource, place);
        const requestId = randomUUID();
        const answer = await write({ requestId });
        await finish(verb, place, answer);
        if (verb === "Create" && verbs.includes("Update")) await place.update(path, resource.change);
        if (verb === "Delete") await makeAgain(name, answer);
        else await place.delete(path);
        const rows = await sql.summarise();
        expect(await write({ requestId })).toEqual(withoutSecret(answer));
        expect(await sql.summarise()).toEqual(rows);
      });

      test.each(sampledVerbs)("another request with the request id of a %s is refused", async (verb) => {
        const { path, write } = await prepare(verb, resource, place);
        const others = await Promise.all(verbs.map((otherVerb) => prepare(otherVerb, resource, place)));
        const requestId = randomUUID();
        await write({ requestId });
        const rows = await sql.summarise();
        // Uses the id for the same methods on other items, and for a different request for this item.
        const writes = [
          ...others.map((other) => other.write),
          (options = {}) => place.delete(path, { ...options, etag: "1" }),
        ];
        for (const other of writes) {
          expect(await failureOf(other({ requestId }))).toMatchObject({
            code: "InvalidArgument",
            reason: "FIELD_INVALID",
            fields: ["request_id"],
          });
        }
        expect(await sql.summarise()).toEqual(rows);
      });

      test.each(sampledVerbs)(
        "another caller can use the request id of a %s, and does not see its response",
        async (verb) => {
          const theirs = place.as(onThird);
          const own = await prepare(verb, resource, place);
          const other = await prepare(verb, resource, theirs);
          const requestId = randomUUID();
          const answer = await own.write({ requestId });
          const answerOfOther = await other.write({ requestId });
          expect(answerOfOther.id).not.toBe(verb === "Delete" && answer.id === undefined ? "" : answer.id);
          const rows = await sql.summarise();
          expect(await own.write({ requestId })).toEqual(withoutSecret(answer));
          expect(await other.write({ requestId })).toEqual(withoutSecret(answerOfOther));
          expect(await sql.summarise()).toEqual(rows);
        },
      );

      test.each(sampledVerbs)(
        "of many concurrent repeats of a %s on two servers, one is carried out, in any spelling of the id",
        async (verb) => {
          const { name, path, write: here } = await prepare(verb, resource, place);
          const there = writeOf(verb, resource, place.as(onSecond), name, path);
          const before = await countChanges(resource);
          const id = randomUUID();
          const answers = await Promise.all(
            Array.from({ length: rounds(8, 20) }, (_, turn) =>
              (turn % 2 === 0 ? here : there)({ requestId: turn % 4 < 2 ? id : id.toUpperCase() }),
            ),
          );
          expect(await countChanges(resource)).toBe(before + 1);
          const [one] = answers;
          for (const answer of answers) expect(withoutSecret(answer)).toEqual(withoutSecret(one as Item));
          const secrets = answers.filter(({ secret }) => secret !== undefined);
          expect(secrets).toHaveLength(verb === "Create" && hasSecret(resource) ? 1 : 0);
        },
      );

      test.each(sampledVerbs)("a %s that failed can be repeated with its id", async (verb) => {
        const name = uniqueName("item");
        const path = place.pathOf(name);
        await place.makeWay(name);
        const requestId = randomUUID();
        const write = () => writeOf(verb, resource, place, name, path)({ requestId });
        if (verb === "Create") await place.create(name);
        const code = verb === "Create" ? "AlreadyExists" : "NotFound";
        expect(await failureOf(write())).toMatchObject({ code });
        if (verb === "Create") await free(path);
        else await place.create(name);
        const answer = await write();
        expect(await write()).toEqual(withoutSecret(answer));
        await finish(verb, place, answer);
        if (verb === "Delete") expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
        else await place.get(path);
      });

      test.each(sampledVerbs)(
        "the request id of a %s counts for a day; afterwards the call is carried out again",
        async (verb) => {
          const { name, path, write } = await prepare(verb, resource, place);
          const requestId = randomUUID();
          const answer = await write({ requestId });
          await finish(verb, place, answer);
          if (verb === "Create") await free(path);
          if (verb === "Update") await changeBack(name, path);
          if (verb === "Delete") await makeAgain(name, answer);
          const age = (interval: string) =>
            sql.query("update write_requests set create_time = now() - $1::interval where request_id = $2", [
              interval,
              requestId,
            ]);
          await age("23 hours 59 minutes");
          expect(await write({ requestId })).toEqual(withoutSecret(answer));
          await age("24 hours");
          const before = await countChanges(resource);
          const later = await write({ requestId });
          expect(await countChanges(resource)).toBe(before + 1);
          // The id counts from that call on.
          expect(await write({ requestId })).toEqual(withoutSecret(later));
          expect(await countChanges(resource)).toBe(before + 1);
        },
      );

      test.each(sampledVerbs)("a %s with an id that is not a UUID is refused", async (verb) => {
        const { write } = await prepare(verb, resource, place);
        const rows = await sql.summarise();
        const uuid = randomUUID();
        for (const requestId of ["x", "1", `{${uuid}}`, uuid.replaceAll("-", ""), `${uuid} `, `urn:uuid:${uuid}`]) {
          expect(await failureOf(write({ requestId }))).toMatchObject({
            code: "InvalidArgument",
            reason: "FIELD_INVALID",
            fields: ["request_id"],
          });
        }
        expect(await sql.summarise()).toEqual(rows);
      });
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
        const stale = place.update(path, { ...resource.change, etag: "1" }, { allowMissing });
        expect(await failureOf(stale)).toMatchObject(missing);
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

      test("refuses a change of an existing resource with a stale etag", async () => {
        const { path } = await make();
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
        const { path, etag } = await make();
        const stale = place.delete(path, { allowMissing, etag: `${etag}0` });
        expect(await failureOf(stale)).toMatchObject({ code: "Aborted", reason: "ETAG_STALE" });
        await place.delete(path, { allowMissing, etag });
        expect(await failureOf(place.get(path))).toMatchObject({ code: "NotFound" });
        expect(await place.delete(path, { allowMissing })).toEqual(emptyAnswer(resource));
      });

      test("succeeds in all of many concurrent calls on two servers", async () => {
        const elsewhere = place.as(onSecond);
        for (let round = 0; round < rounds(1, 3); round++) {
          const { path } = await make();
          const before = await countChanges(resource);
          await Promise.all(
            Array.from({ length: 10 }, (_, turn) =>
              (turn % 2 === 0 ? place : elsewhere).delete(path, { allowMissing }),
            ),
          );
          expect(await countChanges(resource)).toBe(before + 1);
        }
      });

      test.runIf(keepsDeleted(resource.definition) && !isRunByProvider(resource))(
        "returns a resource that is already deleted as it is",
        async () => {
          const { path, id } = await make();
          const deleted = await place.delete(path);
          const rows = await sql.summarise();
          expect(await failureOf(place.delete(place.pathOf(`@${id}`)))).toMatchObject({ code: "FailedPrecondition" });
          expect(await place.delete(place.pathOf(`@${id}`), { allowMissing })).toEqual(deleted);
          expect(await sql.summarise()).toEqual(rows);
        },
      );
    });
  });

  test("validate_only of the creation of an API key creates no key that works", async () => {
    const place = await openWorkplace(writtenResource("ApiKey"), createApi(protocol, first.url, first.operatorKey));
    const call = ({ secret }: Item) => failureOf(createApi(protocol, first.url, secret).orgs.listOrgs({}));
    const checked = await place.create(uniqueName("key"), { validateOnly: true });
    expect(await call(checked)).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
    // A real key is accepted, although its member has no permissions.
    expect(await call(await place.create(uniqueName("key")))).toMatchObject({ code: "PermissionDenied" });
  });

  test("the secret of an API key is not stored for repeats", async () => {
    const place = await openWorkplace(writtenResource("ApiKey"), createApi(protocol, first.url, first.operatorKey));
    const requestId = randomUUID();
    const name = uniqueName("key");
    const { secret = "", prefix } = (await place.create(name, { requestId })) as Item & { prefix: string };
    const rest = secret.slice(prefix.length);
    expect(rest.length).toBeGreaterThan(20);
    const repeated = await place.create(name, { requestId });
    expect(repeated.secret).toBeUndefined();
    expect(repeated).toMatchObject({ name, prefix });
    const [row] = await sql.query("select answer, fingerprint from write_requests where request_id = $1", [requestId]);
    const { answer, fingerprint } = row as { answer: Buffer; fingerprint: Buffer };
    expect(answer.includes(prefix)).toBe(true);
    expect(answer.includes(rest)).toBe(false);
    expect(fingerprint.includes(rest)).toBe(false);
    expect(await sql.tablesWith(rest)).toEqual([]);
    expect(await sql.tablesWith(Buffer.from(rest).toString("hex"))).toEqual([]);
    // The search finds what is stored.
    expect(await sql.tablesWith(prefix)).toContain("api_keys");
    expect(await sql.tablesWith(Buffer.from(prefix).toString("hex"))).toEqual(["write_requests"]);
  });

  test("validate_only returns the errors of rules that only one resource has", async () => {
    const api = createApi(protocol, first.url, first.operatorKey);
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
    const api = createApi(protocol, first.url, first.operatorKey);
    const name = uniqueName("acme");
    const rows = await sql.summarise();
    const checked = await api.orgs.createOrg({ org: { name }, validateOnly: true });
    expect(checked).toMatchObject({ path: `/orgs/${name}`, customerPath: `/customers/${name}` });
    expect(await sql.summarise()).toEqual(rows);
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

test("a request id applies to every field that a request can have", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const labels = { "cost_centre-1": "4711", "team.example/a_b_1": "x" };
  const { path } = await api.projects.createProject({ parentPath, project: { name: "site" } });
  for (const key of ["team", "cost-centre", "cost_centre", "a_1", "example.com/x", "a__b"]) {
    const update = (value: string) => ({
      path,
      project: { labels: { [key]: value } },
      updateMask: { paths: [`labels.${key}`] },
      requestId: uuidOf(key),
    });
    const answer = await api.projects.updateProject(update("1"));
    expect(answer.labels[key]).toBe("1");
    expect(await api.projects.updateProject(update("1"))).toEqual(answer);
    expect(await failureOf(api.projects.updateProject(update("2")))).toMatchObject({ fields: ["request_id"] });
  }
  const requestId = randomUUID();
  const forwards = await api.projects.createProject({ parentPath, project: { name: "a", labels }, requestId });
  const reversed = Object.fromEntries(Object.entries(labels).toReversed());
  const backwards = api.projects.createProject({ parentPath, project: { name: "a", labels: reversed }, requestId });
  expect(await backwards).toEqual(forwards);
});

test("another request with a used id is refused for this reason, even if it has other errors", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { path } = await api.projects.createProject({ parentPath, project: { name: "site" } });
  const requestId = randomUUID();
  await api.projects.updateProject({ path, project: { displayName: "Site" }, requestId });
  for (const paths of [["displayName"], ["Labels.X"], [""], ["a.b.c_1"]]) {
    const other = api.projects.updateProject({ path, project: {}, updateMask: { paths }, requestId });
    expect(await failureOf(other)).toMatchObject({ code: "InvalidArgument", fields: ["request_id"] });
  }
  for (const expireTime of [
    { seconds: 10n ** 15n, nanos: 0 },
    { seconds: 1n, nanos: -1 },
  ]) {
    const parent = `${parentPath}/members/x`;
    const other = api.apiKeys.createApiKey({ parentPath: parent, apiKey: { name: "k", expireTime }, requestId });
    expect(await failureOf(other)).toMatchObject({ code: "InvalidArgument" });
  }
});

test("a repeat can use another protocol", async () => {
  const name = uniqueName("acme");
  const requests = [
    (api: Api, requestId: string) => api.orgs.createOrg({ org: { name, labels: { tier: "gold" } }, requestId }),
    (api: Api, requestId: string) =>
      api.members.createMember({ parentPath: `orgs/${name}`, member: { name: "alice", type: 2 }, requestId }),
    (api: Api, requestId: string) =>
      api.members.updateMember({
        path: `orgs/${name}/members/alice`,
        member: { displayName: "Alice" },
        updateMask: { paths: ["display_name"] },
        requestId,
      }),
    (api: Api, requestId: string) => api.members.deleteMember({ path: `orgs/${name}/members/alice`, requestId }),
  ];
  for (const send of requests) {
    const requestId = randomUUID();
    const [answer, ...repeats] = await Promise.all(
      protocols.map((protocol) => send(createApi(protocol, first.url, first.operatorKey), requestId)),
    );
    for (const repeat of repeats) expect(repeat).toEqual(answer);
  }
});

test("the keys of one member count as one caller", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const parentPath = "orgs/system/members/operator";
  const { secret } = await api.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("key") } });
  const request = { org: { name: uniqueName("acme") }, requestId: randomUUID() };
  const answer = await api.orgs.createOrg(request);
  expect(await createApi("gRPC", second.url, secret).orgs.createOrg(request)).toEqual(answer);
});

test("each write removes a few stored responses that are older than a day", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const write = () =>
    api.projects.createProject({ parentPath, project: { name: uniqueName("p") }, requestId: randomUUID() });
  await write();
  await sql.query("delete from write_requests where create_time <= now() - interval '1 day'");
  const count = async (sign: "<=" | ">"): Promise<number> => {
    const text = `select count(*)::int as count from write_requests where create_time ${sign} now() - interval '1 day'`;
    return Number((await sql.query(text))[0]?.["count"]);
  };
  await sql.query(`insert into write_requests
    select org_id, actor_id, gen_random_uuid(), fingerprint, answer, now() - interval '2 days'
    from (select * from write_requests limit 1) one, generate_series(1, 30)`);
  const fresh = await count(">");
  await write();
  const left = await count("<=");
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(30);
  for (let turn = 1; turn < 15; turn++) await write();
  expect(await count("<=")).toBe(0);
  expect(await count(">")).toBe(fresh + 15);
});

/** Returns how many lines of the change logs are about resources of this type. */
async function countChanges({ type }: WrittenResource): Promise<number> {
  const [row] = await sql.query("select count(*)::int as count from changes where resource_type = $1", [type]);
  return Number(row?.["count"]);
}

/** Returns the same id for the same text. */
function uuidOf(text: string): string {
  const hex = Buffer.from(text.padEnd(16, ".")).toString("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
