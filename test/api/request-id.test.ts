// Tests request_id (AIP-155): a repeated write is carried out once, and returns the same response.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { rounds } from "../support/rounds.ts";
import { createResourcesApi } from "../resources/cloud.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst, protocols } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import { type Verb, hasSecret, writtenResource } from "../support/written-resources.ts";
import { cases, countChanges, prepare, verbsInTurn, withoutSecret, writeOf } from "./prepared-writes.ts";

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

/** Carries out what a write has started: that of an item with a provider returns an Operation. */
async function finish(verb: Verb, place: Workplace, answer: Item): Promise<void> {
  if (verb !== "Update") await place.finish(answer);
}

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  /** Clients of the two other servers. */
  let onSecond: Api;
  let onThird: Api;
  beforeAll(() => {
    onSecond = createApi(protocol, second.url, first.operatorKey);
    onThird = createApi(protocol, third.url, thirdKey);
  });

  describe.each(ofEachShape(cases))("$name", ({ resource, verbs }) => {
    let place: Workplace;
    beforeAll(async () => {
      place = await openWorkplace(resource, createApi(protocol, first.url, first.operatorKey));
    });

    describe("request_id", () => {
      const inTurn = (turn: number): readonly Verb[] => verbsInTurn(resource, verbs, turn);
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
          const changes = await countChanges(sql, resource);
          const answer = await write({ requestId });
          expect(await countChanges(sql, resource)).toBe(changes + 1);
          const rows = await sql.summarise();
          for (const id of [requestId, requestId.toUpperCase()]) {
            expect(await write({ requestId: id })).toEqual(withoutSecret(answer));
          }
          expect(await sql.summarise()).toEqual(rows);
        },
      );

      test.each(inTurn(1))("a repeated %s does so even if the item has since been changed or deleted", async (verb) => {
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

      test.each(inTurn(2))("another request with the request id of a %s is refused", async (verb) => {
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

      test.each(inTurn(3))(
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

      test.each(verbs)(
        "of many concurrent repeats of a %s on two servers, one is carried out, in any spelling of the id",
        async (verb) => {
          const { name, path, write: here } = await prepare(verb, resource, place);
          const there = writeOf(verb, resource, place.as(onSecond), name, path);
          const before = await countChanges(sql, resource);
          const id = randomUUID();
          const answers = await Promise.all(
            Array.from({ length: rounds(4, 20) }, (_, turn) =>
              (turn % 2 === 0 ? here : there)({ requestId: turn % 4 < 2 ? id : id.toUpperCase() }),
            ),
          );
          expect(await countChanges(sql, resource)).toBe(before + 1);
          const [one] = answers;
          for (const answer of answers) expect(withoutSecret(answer)).toEqual(withoutSecret(one as Item));
          const secrets = answers.filter(({ secret }) => secret !== undefined);
          expect(secrets).toHaveLength(verb === "Create" && hasSecret(resource) ? 1 : 0);
        },
      );

      test.each(inTurn(4))("a %s that failed can be repeated with its id", async (verb) => {
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

      test.each(inTurn(5))(
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
          const before = await countChanges(sql, resource);
          const later = await write({ requestId });
          expect(await countChanges(sql, resource)).toBe(before + 1);
          // The id counts from that call on.
          expect(await write({ requestId })).toEqual(withoutSecret(later));
          expect(await countChanges(sql, resource)).toBe(before + 1);
        },
      );

      test.each(inTurn(6))("a %s with an id that is not a UUID is refused", async (verb) => {
        const { write } = await prepare(verb, resource, place);
        const rows = await sql.summarise();
        const uuid = randomUUID();
        const zeros = uuid.replaceAll(/[^-]/g, "0");
        const others = ["x", "1", `{${uuid}}`, uuid.replaceAll("-", ""), `${uuid} `, `urn:uuid:${uuid}`];
        for (const requestId of [...others, zeros]) {
          expect(await failureOf(write({ requestId }))).toMatchObject({
            code: "InvalidArgument",
            reason: "FIELD_INVALID",
            fields: ["request_id"],
          });
        }
        expect(await sql.summarise()).toEqual(rows);
      });
    });
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
});

test.each(protocols)(
  "over %s, a request is the same with and without the leading slashes of its paths",
  async (protocol) => {
    const api = createApi(protocol, first.url, first.operatorKey);
    const { path: org } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const member = await api.members.createMember({ parentPath: org, member: { name: "alice" } });
    const group = await api.groups.createGroup({ parentPath: org, group: { name: "sre" } });
    const [slashId, batchId] = [randomUUID(), randomUUID()];
    const create = (of: (path: string) => string) => ({
      parentPath: of(group.path),
      groupMember: { memberPath: of(member.path) },
      requestId: slashId,
    });
    const plain = (path: string): string => path.slice(1);
    const created = await api.groupMembers.createGroupMember(create(plain));
    const onSecond = createApi(protocol, second.url, first.operatorKey);
    for (const of of [plain, (path: string) => path]) {
      expect(await onSecond.groupMembers.createGroupMember(create(of))).toEqual(created);
    }
    const remove = (of: (path: string) => string) => ({
      parentPath: of(org),
      paths: [of(member.path)],
      requestId: batchId,
    });
    await api.members.batchDeleteMembers(remove((path) => path));
    await onSecond.members.batchDeleteMembers(remove(plain));
    const another = { ...create(plain), groupMember: { memberPath: `${plain(org)}/members/bob` } };
    expect(await failureOf(api.groupMembers.createGroupMember(another))).toMatchObject({ fields: ["request_id"] });
  },
);

test("a request id applies to every field that a request can have", async () => {
  const api = createApi("gRPC", first.url, first.operatorKey);
  const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const labels = { "cost_centre-1": "4711", "team.example/a_b_1": "x" };
  const { path } = await api.projects.createProject({ parentPath, project: { name: "site" } });
  for (const key of ["team", "cost-centre", "cost_centre", "a_1", "example.com/x", "a__b"]) {
    const update = (value: string) => ({
      path,
      project: { labels: { [key]: value } },
      updateMask: { paths: [`labels.\`${key}\``] },
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

test("a field that says what its default value is differs from one that is not set", async () => {
  const { services, quantityKinds, types } = createResourcesApi("REST", first.url, first.operatorKey);
  const { path: parentPath } = await services.createService({ service: { name: uniqueName("compute") } });
  const kind = uniqueName("cores");
  await quantityKinds.createQuantityKind({ quantityKind: { name: kind, unit: "core" } });
  const requestId = randomUUID();
  const create = (quantity: { counted?: boolean; surplus?: number }) =>
    types.createResourceType({
      parentPath,
      resourceType: {
        name: "machines",
        collection: "machines",
        operations: [{ verb: "create", quantities: [{ kind, ...quantity }] }, { verb: "delete" }],
      },
      requestId,
    });
  const answer = await create({ counted: false });
  expect(await create({ counted: false })).toEqual(answer);
  for (const other of [{}, { counted: true }, { counted: false, surplus: 0 }]) {
    expect(await failureOf(create(other))).toMatchObject({ fields: ["request_id"] });
  }
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

/** Returns the same id for the same text. */
function uuidOf(text: string): string {
  const hex = Buffer.from(text.padEnd(16, ".")).toString("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
