import { type SqlBool, sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { type ApiKeyRow, selectApiKeys } from "../../src/iam/api-keys/store.ts";
import type { Database } from "../../src/database/database.ts";
import { orgLevel } from "../../src/database/match-reference.ts";
import { type MemberRow, selectMembers } from "../../src/iam/members/store.ts";
import { type OrgRow, selectOrgs } from "../../src/iam/orgs/store.ts";
import { patterns } from "../../src/paths/patterns.ts";
import { parseResourcePath } from "../../src/paths/parse-path.ts";
import { createPathLookup } from "../../src/database/path-lookup.ts";
import { addApiKey, addMember, addOrg, markDeleted } from "./sample-rows.ts";
import { useSharedDatabase } from "./shared-database.ts";

const rows = {} as {
  acme: OrgRow;
  gone: OrgRow;
  alice: MemberRow;
  otherAlice: MemberRow;
  deletedBob: MemberRow;
  bob: MemberRow;
  orphan: MemberRow;
  keyId: string;
};
const shared = useSharedDatabase();
let database: Database;
let statements = 0;

beforeAll(async () => {
  database = {
    ...shared(),
    readPrepared(name, text, values) {
      statements++;
      return shared().readPrepared(name, text, values);
    },
  };
  rows.acme = await addOrg(database, "acme");
  const umbrella = await addOrg(database, "umbrella");
  rows.gone = await addOrg(database, "gone");
  rows.alice = await addMember(database, rows.acme, "alice");
  rows.otherAlice = await addMember(database, umbrella, "alice");
  rows.deletedBob = await addMember(database, rows.acme, "bob");
  await markDeleted(database, "members", rows.deletedBob);
  rows.bob = await addMember(database, rows.acme, "bob");
  rows.orphan = await addMember(database, rows.gone, "carol");
  await markDeleted(database, "orgs", rows.gone);
  rows.keyId = (await addApiKey(database, rows.acme, rows.alice, "ci")).id;
});
const ofMembers = [orgLevel, { alias: "members", keepsDeleted: true }];
const parseMember = (path: string) => parseResourcePath(patterns.Member, path, "path", "above-id");

/** Paths of members, and the members that they refer to. */
const memberPaths: readonly [path: () => string, found: () => MemberRow | undefined][] = [
  [() => "orgs/acme/members/alice", () => rows.alice],
  [() => `orgs/acme/members/@${rows.alice.id}`, () => rows.alice],
  [() => `orgs/@${rows.acme.id}/members/alice`, () => rows.alice],
  [() => `orgs/@${rows.acme.id}/members/@${rows.alice.id}`, () => rows.alice],
  [() => `orgs/-/members/@${rows.alice.id}`, () => rows.alice],
  [() => "orgs/umbrella/members/alice", () => rows.otherAlice],
  [() => `orgs/-/members/@${rows.otherAlice.id}`, () => rows.otherAlice],
  // A deleted member's name does not refer to it; its id does.
  [() => "orgs/acme/members/bob", () => rows.bob],
  [() => `orgs/acme/members/@${rows.deletedBob.id}`, () => rows.deletedBob],
  [() => `orgs/-/members/@${rows.deletedBob.id}`, () => rows.deletedBob],
  // The same for a deleted org; its members are found below the id of the org.
  [() => "orgs/gone/members/carol", () => undefined],
  [() => `orgs/gone/members/@${rows.orphan.id}`, () => undefined],
  [() => `orgs/-/members/@${rows.orphan.id}`, () => undefined],
  [() => `orgs/@${rows.gone.id}/members/carol`, () => rows.orphan],
  [() => `orgs/@${rows.gone.id}/members/@${rows.orphan.id}`, () => rows.orphan],
  // A member of another org, and missing resources.
  [() => `orgs/umbrella/members/@${rows.alice.id}`, () => undefined],
  [() => "orgs/acme/members/nobody", () => undefined],
  [() => "orgs/nowhere/members/alice", () => undefined],
  [() => `orgs/acme/members/@${rows.acme.id}`, () => undefined],
  [() => `orgs/@${rows.alice.id}/members/alice`, () => undefined],
];

describe("a lookup by path", () => {
  test("finds the resource of each kind of path, and no other", async () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "one_by_one",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    for (const [path, found] of memberPaths) {
      expect([path(), (await lookUp(parseMember(path())))?.id]).toEqual([path(), found()?.id]);
    }
  });

  test("returns the right row for each of a thousand concurrent calls, with few statements", async () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "mixed",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    const wanted = Array.from({ length: 1000 }, (_, index) => {
      const [path, found] = memberPaths[index % memberPaths.length] ?? [() => "", () => undefined];
      return { path: path(), id: found()?.id };
    });
    statements = 0;
    const answers = await Promise.all(
      wanted.map(async ({ path }) => ({ path, id: (await lookUp(parseMember(path)))?.id })),
    );
    expect(answers).toEqual(wanted);
    // There are five shapes: name or id below name or id, and an id below "-". The largest shape has 300 paths, and a
    // statement has at most 256.
    expect(statements).toBeLessThanOrEqual(7);
  });

  test("sends a thousand calls of one shape as four statements", async () => {
    const lookUp = createPathLookup<OrgRow>(database, {
      name: "one_shape",
      levels: [orgLevel],
      rows: selectOrgs(database.reads),
    });
    statements = 0;
    const path = parseResourcePath(patterns.Org, "orgs/acme", "path");
    const found = await Promise.all(Array.from({ length: 1000 }, () => lookUp(path)));
    expect(new Set(found.map((row) => row?.id))).toEqual(new Set([rows.acme.id]));
    expect(statements).toBe(4);
  });

  test("returns complete rows, like a query of a single row", async () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "whole_rows",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    const { given_position: _position, ...row } = (await lookUp(
      parseMember("orgs/acme/members/alice"),
    )) as MemberRow & {
      given_position: number;
    };
    const [expected] = await selectMembers(database.reads).where("members.id", "=", rows.alice.id).execute();
    expect(row).toEqual(expected);
  });

  test("follows three levels, also with - for both parents of an id", async () => {
    const levels = [...ofMembers, { alias: "api_keys", keepsDeleted: false }];
    const lookUp = createPathLookup<ApiKeyRow>(database, { name: "keys", levels, rows: selectApiKeys(database.reads) });
    const paths = [
      "orgs/acme/members/alice/apiKeys/ci",
      `orgs/-/members/-/apiKeys/@${rows.keyId}`,
      `orgs/-/members/@${rows.alice.id}/apiKeys/ci`,
      `orgs/acme/members/bob/apiKeys/@${rows.keyId}`,
      "orgs/umbrella/members/alice/apiKeys/ci",
    ];
    const found = await Promise.all(
      paths.map(async (path) => (await lookUp(parseResourcePath(patterns.ApiKey, path, "path", "above-id")))?.id),
    );
    expect(found).toEqual([rows.keyId, rows.keyId, rows.keyId, undefined, undefined]);
  });

  test("finds a row that was written before the call", async () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "fresh",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    const path = parseMember("orgs/acme/members/dave");
    const before = lookUp(path);
    expect(await before).toBeUndefined();
    const dave = await addMember(database, rows.acme, "dave");
    expect((await lookUp(path))?.id).toBe(dave.id);
  });

  test("finds the rows for which a condition is true, with one statement for each shape", async () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "some",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    const texts = [
      "orgs/acme/members/bob",
      "orgs/umbrella/members/alice",
      `orgs/-/members/@${rows.alice.id}`,
      "orgs/acme/members/alice",
      "orgs/acme/members/nobody",
    ];
    const isAlice = sql<SqlBool>`members.name = ${"alice"} and orgs.id = any (${[rows.acme.id]}::uuid[])`;
    const found = await lookUp.where(isAlice, texts.map(parseMember));
    expect(found.map((row) => row?.id)).toEqual([undefined, undefined, rows.alice.id, rows.alice.id, undefined]);
  });

  test("rejects a path of another depth", () => {
    const lookUp = createPathLookup<MemberRow>(database, {
      name: "depth",
      levels: ofMembers,
      rows: selectMembers(database.reads),
    });
    expect(() => lookUp([{ by: "name", value: "acme" }])).toThrow("a path of 1 levels for 2 tables");
  });
});
