// Tests that times and durations are read in the same way from the JSON of every protocol: invalid ones are refused with the
// same violation, and the others keep their value.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { unaryCalls } from "../support/json-calls.ts";
import { readError } from "../support/rest-transport.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

const path = "/orgs/acme/groups/dev/members/alice";
const maxBodyBytes = 100_000;

let server: TestServer;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ maxBodyBytes });
  api = createApi("Connect", server.url, server.operatorKey);
  await api.orgs.createOrg({ org: { name: "acme" } });
  await api.groups.createGroup({ parentPath: "orgs/acme", group: { name: "dev" } });
  await api.members.createMember({ parentPath: "orgs/acme", member: { name: "alice" } });
  await api.groupMembers.createGroupMember({
    parentPath: "orgs/acme/groups/dev",
    groupMember: { memberPath: "orgs/acme/members/alice" },
  });
});
afterAll(() => server.close());

/** Changes the expire time of a membership, and checks access, both over one protocol. */
interface Lane {
  readonly update: (json: string) => Promise<JsonObject>;
  readonly check: (json: string) => Promise<JsonObject>;
}

async function callRest(method: string, to: string, body: string): Promise<JsonObject> {
  const headers = { ...authorization(), "content-type": "application/json" };
  const response = await fetch(`${server.url}/iam/v1alpha${to}`, { method, headers, body });
  const json = (await response.json()) as JsonObject;
  if (!response.ok) throw readError(json, response.headers);
  return json;
}

const authorization = () => ({ authorization: `Bearer ${server.operatorKey}` });

const lanes: readonly (Lane & { readonly protocol: string })[] = [
  {
    protocol: "REST",
    update: (json) => callRest("PATCH", path, json),
    check: (json) => callRest("POST", "/access:check", json),
  },
  ...Object.entries(unaryCalls).map(([protocol, call]) => ({
    protocol,
    update: (json: string) =>
      call({
        url: server.url,
        procedure: "/iam.v1alpha.GroupMembersService/UpdateGroupMember",
        json: `{"path":"${path}","groupMember":${json}}`,
        headers: authorization(),
      }),
    check: (json: string) =>
      call({ url: server.url, procedure: "/iam.v1alpha.AccessService/CheckAccess", json, headers: authorization() }),
  })),
];

const unreal = [
  ["30 February", "2127-02-30T00:00:00Z"],
  ["29 February of a year that has none", "2127-02-29T00:00:00Z"],
  ["31 April with an offset", "2127-04-31T12:00:00+02:00"],
  ["day 0", "2127-01-00T00:00:00Z"],
  ["day 32", "2127-01-32T00:00:00Z"],
  ["month 0", "2127-00-10T00:00:00Z"],
  ["month 13", "2127-13-01T00:00:00Z"],
  ["hour 24", "2127-01-31T24:00:00Z"],
  ["hour 25", "2127-01-31T25:00:00Z"],
  ["minute 60", "2127-01-31T23:60:00Z"],
  ["second 60", "2127-12-31T23:59:60Z"],
  ["no zone", "2127-01-31T00:00:00"],
  ["a lower-case zone", "2127-01-31T00:00:00z"],
  ["the year 0", "0000-01-01T00:00:00Z"],
  ["the year 10000", "10000-01-01T00:00:00Z"],
  ["an instant of the year 10000", "9999-12-31T23:59:59-00:01"],
  ["an offset of 24 hours", "2127-01-31T00:00:00+24:00"],
  ["an offset of 60 minutes", "2127-01-31T00:00:00+01:60"],
  ["an offset of 99 hours", "2127-01-31T00:00:00-99:99"],
  ["an offset without a colon", "2127-01-31T00:00:00+0100"],
  ["ten fractional digits", "2127-01-31T00:00:00.1234567890Z"],
  ["no digits after the point", "2127-01-31T00:00:00.Z"],
  ["a text that is not a time", "soon"],
] as const;

const real = [
  ["a leap day", "2128-02-29T00:00:00Z", "2128-02-29T00:00:00.000Z"],
  ["the leap day of a century", "2400-02-29T23:59:59Z", "2400-02-29T23:59:59.000Z"],
  ["the last day of a month", "2127-04-30T23:59:59Z", "2127-04-30T23:59:59.000Z"],
  ["an offset to the east", "2127-03-01T00:30:00+01:00", "2127-02-28T23:30:00.000Z"],
  ["an offset to the west", "2127-12-31T23:00:00-23:59", "2128-01-01T22:59:00.000Z"],
  ["milliseconds", "2127-01-31T12:00:00.125Z", "2127-01-31T12:00:00.125Z"],
] as const;

const cross = <Row extends readonly unknown[]>(rows: readonly Row[]) =>
  lanes.flatMap((lane) => rows.map((row) => [lane.protocol, ...row, lane] as const));

async function expireTime(): Promise<string | undefined> {
  const { expireTime: time } = await api.groupMembers.getGroupMember({ path });
  return time && timestampDate(time).toISOString();
}

/** The name of the field as it is sent: over REST, the body is the membership. */
const fieldOver = (protocol: string): string => (protocol === "REST" ? "expire_time" : "group_member.expire_time");

describe("a time that does not exist is refused", () => {
  test.each(cross(unreal))("over %s: %s, %s", async (_protocol, _what, text, lane) => {
    const failure = await failureOf(lane.update(JSON.stringify({ expireTime: text })));
    expect(failure).toMatchObject({
      code: "InvalidArgument",
      reason: "FIELD_INVALID",
      fields: [fieldOver(lane.protocol)],
      message: `${fieldOver(lane.protocol)}: must be a time such as 2026-01-31T12:00:00Z, got "${text}"`,
    });
  });

  test.each(lanes.map((lane) => [lane.protocol, lane] as const))("over %s: in any spelling", async (_, lane) => {
    for (const json of [
      '{"expire_time":"2127-02-30T00:00:00Z"}',
      '{"\\u0065xpireTime":"\\u0032127-02-\\u00330T00:00:00Z"}',
      '\n{ "etag": "", "expireTime" :\t"2127-02-30T00:00:00Z" }',
    ]) {
      const { fields } = await failureOf(lane.update(json));
      expect(fields).toEqual([fieldOver(lane.protocol)]);
    }
  });

  test("none of them is stored", async () => {
    expect(await expireTime()).toBeUndefined();
  });
});

describe("a time that exists keeps its value", () => {
  test.each(cross(real))("over %s: %s, %s", async (_protocol, _what, text, expected, lane) => {
    const updated = await lane.update(JSON.stringify({ expireTime: text }));
    const time = (updated["expireTime"] ?? updated["expire_time"]) as string;
    expect(new Date(time).toISOString()).toBe(expected);
    expect(await expireTime()).toBe(expected);
  });
});

const question = { subjectPath: "/orgs/acme/members/alice", permission: "iam.orgs.get", resourcePath: "/orgs/acme" };

describe("a duration", () => {
  test.each(cross([["5s later"], ["1s\n"], ["5"], ["1.0000000000s"], ["s"]] as const))(
    "over %s is refused: %j",
    async (_protocol, text, lane) => {
      const failure = await failureOf(lane.check(JSON.stringify({ ...question, maxStaleness: text })));
      expect(failure).toMatchObject({
        code: "InvalidArgument",
        reason: "FIELD_INVALID",
        fields: ["max_staleness"],
        message: `max_staleness: must be a duration in seconds such as 3.5s, got ${JSON.stringify(text)}`,
      });
    },
  );

  test.each(cross([["5s"], ["0.5s"], ["59.999999999s"]] as const))(
    "over %s is read: %j",
    async (_protocol, text, lane) => {
      const { revision } = await lane.check(JSON.stringify({ ...question, maxStaleness: text }));
      expect(revision).toMatch(/^[-0-9a-f]{36}$/);
    },
  );
});

describe("the limits of a message apply to requests with times", () => {
  test.each(lanes.map((lane) => [lane.protocol, lane] as const))("over %s", async (_protocol, lane) => {
    const { code } = await failureOf(lane.update(JSON.stringify({ etag: "a".repeat(maxBodyBytes) })));
    expect(code).toBe("ResourceExhausted");
  });

  test.each(lanes.map((lane) => [lane.protocol, lane] as const))("over %s, for the depth", async (_protocol, lane) => {
    const deep = `{"expireTime":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    expect(await failureOf(lane.update(deep))).toMatchObject({ code: "InvalidArgument" });
    const context = `{"context":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)},"maxStaleness":"1s"}`;
    expect(await failureOf(lane.check(context))).toMatchObject({ code: "InvalidArgument" });
  });
});
