// Requests as they should not be: what is unknown is an error, what is too much is refused, and nothing of what fails is left.
import { beforeAll, describe, expect, test } from "vitest";
import { sharedTokenServers } from "../support/token-servers.ts";
import { uniqueName } from "../support/api.ts";
import { type Directory, type ScimScene, newGroup, newUser, openScimScene, patch, scimOf, user } from "./scim-scene.ts";

let scene: ScimScene;
let directory: Directory;
let id: string;
let group: string;
beforeAll(async () => {
  scene = await openScimScene(await sharedTokenServers());
  directory = await scene.directory();
  id = await newUser(directory.scim, { displayName: "Judy", name: { givenName: "Judy" }, externalId: uniqueName("e") });
  group = await newGroup(directory.scim, [id]);
});

describe("a list", () => {
  test.each([
    ["/Users", 'department eq "x"'],
    ["/Users", 'userName co "j"'],
    ["/Users", "userName pr"],
    ["/Users", 'userName eq "a" or userName eq "b"'],
    ["/Users", 'not (userName eq "a")'],
    ["/Users", 'emails[primary eq true].value eq "a"'],
    ["/Users", 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "x"'],
    ["/Users", 'userName eq "a" and meta.created eq "x"'],
    ["/Users", "(".repeat(1_000)],
    ["/Groups", 'userName eq "a"'],
    ["/Groups", 'members[value eq "x"].value eq "y"'],
  ])("of %s with the filter %.60s is an error, and never everybody", async (path, filter) => {
    const { status, body } = await directory.scim("GET", `${path}?filter=${encodeURIComponent(filter)}`);
    expect([status, body]).toMatchObject([400, { status: "400", scimType: "invalidFilter" }]);
    expect(body).not.toHaveProperty("Resources");
  });

  test.each([
    ['userName eq "%"', 0],
    ["userName eq 5", 0],
    ['userName eq "\\u0000"', 0],
    ['id eq "not an id"', 0],
    ['displayName eq "JUDY" and active eq true', 1],
    ['displayName eq "Judy" and active eq false', 0],
  ])("with the filter %s has as many as match", async (filter, total) => {
    const { body } = await directory.scim("GET", `/Users?filter=${encodeURIComponent(filter)}`);
    expect(body).toMatchObject({ totalResults: total, itemsPerPage: total });
  });

  test("has pages, of at most 100, and nobody for a count of 0", async () => {
    const own = await scene.directory();
    for (let count = 0; count < 3; count++) await newUser(own.scim);
    const page = async (query: string) => {
      const { body } = await own.scim("GET", `/Users?${query}`);
      return [body.totalResults, body.startIndex, body.itemsPerPage, body.Resources.length];
    };
    expect(await page("count=0")).toEqual([3, 1, 0, 0]);
    expect(await page("startIndex=2&count=1")).toEqual([3, 2, 1, 1]);
    expect(await page("startIndex=3&count=1000")).toEqual([3, 3, 1, 1]);
    expect(await page("startIndex=-5&count=-1")).toEqual([3, 1, 0, 0]);
    expect(await page("startIndex=4")).toEqual([3, 4, 0, 0]);
    expect((await own.scim("GET", "/Users?startIndex=x")).status).toBe(400);
  });

  test("returns the attributes that are asked for", async () => {
    const { body } = await directory.scim("GET", `/Users/${id}?attributes=userName,name.givenName`);
    expect(Object.keys(body).toSorted()).toEqual(["id", "name", "schemas", "userName"]);
    const without = await directory.scim("GET", `/Groups/${group}?excludedAttributes=members,meta`);
    expect(Object.keys(without.body).toSorted()).toEqual(["displayName", "id", "schemas"]);
    expect((await directory.scim("GET", `/Users/${id}?attributes=id&excludedAttributes=meta`)).status).toBe(400);
  });
});

const invalid = (scimType: string) => ({ status: "400", scimType });

describe("a PATCH", () => {
  test.each([
    [{ op: "replace", path: "nickname.x[", value: "x" }, "invalidPath"],
    [{ op: "replace", path: "unknown", value: "x" }, "invalidPath"],
    [{ op: "replace", path: "name.unknown", value: "x" }, "invalidPath"],
    [{ op: "replace", path: "urn:example:User:x", value: "x" }, "invalidPath"],
    [{ op: "replace", path: 'userName[value eq "x"]', value: "x" }, "invalidPath"],
    [{ op: "replace", path: 'emails[unknown eq "x"].value', value: "x" }, "invalidFilter"],
    [{ op: "replace", path: 'emails[type co "x"].value', value: "x" }, "invalidPath"],
    [{ op: "replace", value: { unknown: "x" } }, "invalidPath"],
    [{ op: "replace", path: "id", value: "x" }, "mutability"],
    [{ op: "replace", path: "groups", value: [] }, "mutability"],
    [{ op: "replace", path: "active", value: "maybe" }, "invalidValue"],
    [{ op: "remove", path: "active" }, "invalidValue"],
    [{ op: "remove", path: "userName" }, "invalidValue"],
    [{ op: "remove" }, "noTarget"],
    [{ op: "replace", value: "x" }, "invalidValue"],
    [{ op: "move", path: "userName", value: "x" }, "invalidSyntax"],
    [{ path: "userName", value: "x" }, "invalidSyntax"],
    [{ op: "replace", path: "displayName", value: "x".repeat(600) }, "invalidValue"],
    [{ op: "replace", path: "displayName", value: "a\u0000b" }, "invalidValue"],
    [{ op: "replace", path: "displayName", value: "a\ud800b" }, "invalidValue"],
    [
      {
        op: "replace",
        path: "emails",
        value: Array.from({ length: 30 }, (_, index) => ({ value: `${index}@b.example` })),
      },
      "tooMany",
    ],
    [{ op: "replace", path: "a.".repeat(5_000), value: "x" }, "invalidPath"],
  ])("of a user that has %.80j after others is refused as %s, and none of them counts", async (operation, scimType) => {
    const before = (await directory.scim("GET", `/Users/${id}`)).body;
    const first = { op: "replace", path: "displayName", value: "Changed" };
    const { status, body } = await directory.scim("PATCH", `/Users/${id}`, patch(first, operation));
    expect([status, body]).toMatchObject([400, invalid(scimType)]);
    expect((await directory.scim("GET", `/Users/${id}`)).body).toEqual(before);
  });

  test.each([
    [{ op: "replace", path: "unknown", value: "x" }, "invalidPath"],
    [{ op: "replace", path: "members" }, "invalidValue"],
    [{ op: "add", path: "members", value: [{ value: "not an id" }] }, "invalidValue"],
    [{ op: "add", path: "members", value: [{ value: "01a22833-7d99-7f60-8000-00335d1d673c" }] }, "invalidValue"],
    [{ op: "remove", path: 'members[display eq "x"]' }, "invalidFilter"],
    [{ op: "add", path: "members", value: Array.from({ length: 5_001 }, () => ({ value: "x" })) }, "tooMany"],
  ])("of a group that has %.80j is refused as %s, and nothing is changed", async (operation, scimType) => {
    const before = (await directory.scim("GET", `/Groups/${group}`)).body;
    const first = { op: "remove", path: "members" };
    const { status, body } = await directory.scim("PATCH", `/Groups/${group}`, patch(first, operation));
    expect([status, body]).toMatchObject([400, invalid(scimType)]);
    expect((await directory.scim("GET", `/Groups/${group}`)).body).toEqual(before);
  });

  test("has at most 1,000 operations", async () => {
    const operations = Array.from({ length: 1_001 }, () => ({ op: "replace", path: "displayName", value: "x" }));
    const { body } = await directory.scim("PATCH", `/Users/${id}`, patch(...operations));
    expect(body).toMatchObject(invalid("tooMany"));
  });
});

test("an object has at most 250 attributes, wherever it is", async () => {
  const emails = [{ value: "judy@example.com", type: "work" }];
  const withKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 1]));
  const change = (path: string, value: object) =>
    directory.scim("PATCH", `/Users/${id}`, patch({ op: "replace", path, value }));
  expect(await change("emails", emails)).toMatchObject({ status: 200 });
  const work = 'emails[type eq "work"]';
  const { status, body } = await change(work, { k: withKeys(251) });
  expect([status, body]).toMatchObject([
    400,
    { scimType: "tooMany", detail: "an object can have at most 250 attributes" },
  ]);
  expect(await change(work, withKeys(250))).toMatchObject({ status: 200, body: { emails } });
});

describe("the address that is made the primary one is the only one", () => {
  const primary = true;
  test.each([
    ["its part", () => ({ op: "replace", path: 'emails[type eq "home"].primary', value: true })],
    ["what is chosen", () => ({ op: "replace", path: 'emails[type eq "home"]', value: { primary: "True" } })],
    ["one that is there", (home: object) => ({ op: "add", path: "emails", value: [{ ...home, primary }] })],
  ])("by a change of %s", async (_what, operationOf) => {
    const home = { value: `${uniqueName("judy")}@home.example`, type: "home" };
    const work = { value: `${uniqueName("judy")}@acme.example`, type: "work", primary };
    const operation = operationOf(home);
    const judy = await newUser(directory.scim, { emails: [home, work] });
    const { status, body } = await directory.scim("PATCH", `/Users/${judy}`, patch(operation));
    expect([status, body.emails]).toEqual([
      200,
      [
        { ...home, primary: true },
        { ...work, primary: false },
      ],
    ]);
    const { email } = await scene.api.members.getMember({ path: `${scene.org}/members/@${judy}` });
    expect(email).toBe(home.value);
  });
});

test("parts of a name are found whatever the case of their keys", async () => {
  const judy = await newUser(directory.scim, { name: { givenName: "Judy", familyName: "Hopps" } });
  const changed = async (operation: object) =>
    (await directory.scim("PATCH", `/Users/${judy}`, patch(operation))).body.name;
  expect(await changed({ op: "replace", path: "name", value: { givenname: "Jude" } })).toEqual({
    givenName: "Jude",
    familyName: "Hopps",
  });
  expect(await changed({ op: "replace", value: { name: { FAMILYNAME: null } } })).toEqual({ givenName: "Jude" });
});

test("the operations of a PATCH change 100 emails together at most", async () => {
  const some = Array.from({ length: 10 }, (_, index) => ({ value: `${index}@b.example` }));
  const operations = Array.from({ length: 10 }, () => ({ op: "add", path: "emails", value: some }));
  const answer = await directory.scim("PATCH", `/Users/${id}`, patch(...operations));
  expect([answer.status, answer.body.emails]).toEqual([200, expect.any(Array)]);
  const one = { op: "replace", path: 'emails[type eq "work"].value', value: "judy@b.example" };
  const { body } = await directory.scim("PATCH", `/Users/${id}`, patch(...operations, one));
  expect(body).toMatchObject(invalid("tooMany"));
});

describe("a body", () => {
  test.each([["{"], ["[]"], ['"text"'], ["null"], [""], ["[".repeat(100_000)], [`{"a":${"[".repeat(100_000)}`]])(
    "that is %.20s is refused",
    async (text) => {
      expect((await directory.scim("POST", "/Users", text)).body).toMatchObject(invalid("invalidSyntax"));
      expect((await directory.scim("PATCH", `/Users/${id}`, text)).body).toMatchObject(invalid("invalidSyntax"));
    },
  );

  test("that is no JSON by its type, or longer than the service takes, is refused", async () => {
    const typed = await directory.scim("POST", "/Users", "<user/>", { "content-type": "application/xml" });
    expect(typed.body).toMatchObject(invalid("invalidSyntax"));
    const long = await directory.scim("POST", "/Users", { userName: "x", displayName: "x".repeat(5_000_000) });
    expect([long.status, long.headers.get("content-type")]).toEqual([413, "application/scim+json"]);
  });

  test("without what is required, or with what another user has, is refused", async () => {
    expect((await directory.scim("POST", "/Users", {})).body).toMatchObject(invalid("invalidValue"));
    expect((await directory.scim("POST", "/Groups", {})).body).toMatchObject(invalid("invalidValue"));
    const userName = `${uniqueName("Twice")}@acme.example`;
    expect((await directory.scim("POST", "/Users", user(userName))).status).toBe(201);
    const again = await directory.scim("POST", "/Users", user(userName.toUpperCase()));
    expect([again.status, again.body]).toMatchObject([409, { scimType: "uniqueness" }]);
    const renamed = await directory.scim(
      "PATCH",
      `/Users/${id}`,
      patch({ op: "replace", path: "userName", value: userName }),
    );
    expect([renamed.status, renamed.body]).toMatchObject([409, { scimType: "uniqueness" }]);
  });

  test("is only checked with validate_only", async () => {
    const userName = `${uniqueName("dry")}@acme.example`;
    expect((await directory.scim("POST", "/Users?validate_only=true", user(userName))).status).toBe(201);
    const filter = encodeURIComponent(`userName eq "${userName}"`);
    expect((await directory.scim("GET", `/Users?filter=${filter}`)).body.totalResults).toBe(0);
  });
});

test("a value that is deep, or has many keys, is refused", async () => {
  const core = "urn:ietf:params:scim:schemas:core:2.0:User";
  const deep = `{"${core}":${'{"":'.repeat(20_000)}1${"}".repeat(20_000)}}`;
  const nested = `{"${core}":${`{"${core}":`.repeat(20_000)}1${"}".repeat(20_000)}}`;
  for (const value of [deep, nested]) {
    const { body } = await directory.scim("PATCH", `/Users/${id}`, `{"Operations":[{"op":"add","value":${value}}]}`);
    expect(body).toMatchObject(invalid("invalidPath"));
  }
  const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`title${index}`, "x"]));
  const { body } = await directory.scim("PATCH", `/Users/${id}`, patch({ op: "add", value: keys }));
  expect(body).toMatchObject(invalid("tooMany"));
});

test("a name that is too long for the org is kept whole, and shown as far as it fits", async () => {
  const displayName = `Dr. ${"abcdefgh ".repeat(12)}`.trim();
  const { body } = await directory.scim("POST", "/Users", user(`${uniqueName("1b-ö @")}.example`, { displayName }));
  expect(body.displayName).toBe(displayName);
  const member = await scene.api.members.getMember({ path: `${scene.org}/members/@${body.id}` });
  expect(displayName.startsWith(member.displayName)).toBe(true);
});

test("somebody whom an admin has deleted is not there for the directory, and can be created again", async () => {
  const userName = `${uniqueName("back")}@acme.example`;
  const created = async () => (await directory.scim("POST", "/Users", user(userName))).body.id as string;
  const first = await created();
  await scene.api.members.deleteMember({ path: `${scene.org}/members/@${first}` });
  expect((await directory.scim("GET", `/Users/${first}`)).status).toBe(404);
  expect(await created()).not.toBe(first);
});

test("two calls at once that create the same user make one", async () => {
  const userName = `${uniqueName("race")}@acme.example`;
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => {
      const scim = scimOf(scene.servers[index % 2] ?? scene.servers[0], scene.org, directory.key);
      return scim("POST", "/Users", user(userName, { emails: [{ value: userName }] }));
    }),
  );
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    201, 409, 409, 409, 409, 409,
  ]);
});

test("calls without a token, and of other methods, are refused in the form of the standard", async () => {
  const anonymous = scimOf(scene.servers[0], scene.org, "nothing");
  expect(await anonymous("GET", "/Users")).toMatchObject({ status: 401, body: { status: "401" } });
  expect(await directory.scim("POST", "/Bulk", {})).toMatchObject({ status: 404, body: { status: "404" } });
  expect(await directory.scim("DELETE", "/Users")).toMatchObject({ status: 405, body: { status: "405" } });
});
