// Groups with more members than a response has, and requests that name more than one may: the change is made whole, or refused.
import { beforeAll, describe, expect, test } from "vitest";
import { uniqueName } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import { sharedTokenServers } from "../support/token-servers.ts";
import { type Directory, type ScimScene, newGroup, newUser, openScimScene, patch } from "./scim-scene.ts";

const size = 10_001;

let scene: ScimScene;
let directory: Directory;
let group: string;
let ids: string[];

const values = (of: readonly string[]) => of.map((value) => ({ value }));
const add = (of: readonly string[]) => ({ op: "add", path: "members", value: values(of) });

beforeAll(async () => {
  scene = await openScimScene(await sharedTokenServers());
  directory = await scene.directory();
  const { api, org } = scene;
  ids = [];
  for (let from = 0; from < size; from += 1_000) {
    const count = Math.min(1_000, size - from);
    const requests = Array.from({ length: count }, (_, index) => ({ member: { name: `large-${from + index}` } }));
    const { members } = await api.members.batchCreateMembers({ parentPath: org, requests });
    ids.push(...members.map(({ id }) => id));
  }
  await adopt(ids);
  group = await newGroup(directory.scim);
  for (let from = 0; from < size; from += 5_000) {
    const operations = patch(add(ids.slice(from, from + 5_000)));
    const { status } = await directory.scim("PATCH", `/Groups/${group}?excludedAttributes=members`, operations);
    expect(status).toBe(200);
  }
});

/** Makes members users of the source, which would take a call for each. */
async function adopt(memberIds: readonly string[]): Promise<void> {
  const client = await openSqlClient(scene.servers[0].databaseUrl);
  await client.query(
    `insert into scim_users (customer_id, org_id, source_id, member_id, user_key, display_key, emails, attributes, update_time)
      select customer_id, org_id, $1, id, name, name, '{}', jsonb_build_object('userName', name), now()
      from members where id = any($2::uuid[])`,
    [directory.source.id, memberIds],
  );
  await client.close();
}

/** Returns how many are in the group, and whether one of them is. */
async function lookAt(id: string): Promise<[number, boolean]> {
  const client = await openSqlClient(scene.servers[0].databaseUrl);
  const text = "select count(*)::int as total, bool_or(member_id = $2) as has from group_members where group_id = $1";
  const [row] = await client.query(text, [group, id]);
  await client.close();
  return [Number(row?.["total"]), row?.["has"] === true];
}

const tooMany = { status: 400, body: { scimType: "tooMany" } };

test("a change of a group that a response cannot show succeeds, and is answered without it", async () => {
  const displayName = uniqueName("Large");
  const answer = await directory.scim(
    "PATCH",
    `/Groups/${group}`,
    patch({ op: "replace", path: "displayName", value: displayName }),
  );
  expect(answer).toMatchObject({ status: 204, body: undefined });
  expect(await directory.scim("GET", `/Groups/${group}`)).toMatchObject(tooMany);
  expect(await directory.scim("GET", "/Groups")).toMatchObject(tooMany);
  const without = "excludedAttributes=members";
  expect((await directory.scim("GET", `/Groups/${group}?${without}`)).body).toMatchObject({ displayName });
  expect((await directory.scim("GET", `/Groups?${without}`)).body.Resources).toMatchObject([{ displayName }]);
  const asked = await directory.scim("PATCH", `/Groups/${group}?${without}`, patch(add(ids.slice(0, 1))));
  expect(asked).toMatchObject({ status: 200, body: { displayName } });
});

describe("of a large group,", () => {
  test("everybody who is to leave leaves, or the request is refused", async () => {
    const last = ids.at(-1) ?? "";
    const whole = ids.slice(0, -1);
    const replace = (of: readonly string[]) => ({ op: "replace", path: "members", value: values(of) });
    const parts = [whole.slice(0, 5_000), whole.slice(5_000, 10_000), whole.slice(10_000)];
    const [first = [], ...others] = parts;
    for (const body of [
      patch(replace(first), ...others.map(add)),
      patch(replace([])),
      patch({ op: "remove", path: "members" }),
      patch(add(first), { op: "remove", path: `members[value eq "${last}"]` }, add(others[0] ?? [])),
    ]) {
      expect(await directory.scim("PATCH", `/Groups/${group}`, body)).toMatchObject(tooMany);
    }
    expect(await directory.scim("PUT", `/Groups/${group}`, { displayName: "Large", members: [] })).toMatchObject(
      tooMany,
    );
    expect(await lookAt(last)).toEqual([size, true]);
    const body = patch(add(first), { op: "remove", path: `members[value eq "${last}"]` });
    expect(await directory.scim("PATCH", `/Groups/${group}`, body)).toMatchObject({ status: 200 });
    expect(await lookAt(last)).toEqual([size - 1, false]);
  });
});

test("the operations of a request name 5,000 members together, and no more", async () => {
  const small = await newGroup(directory.scim);
  const operations = Array.from({ length: 1_000 }, (_, index) => add(ids.slice(index * 5, index * 5 + 5)));
  const made = await directory.scim("PATCH", `/Groups/${small}?excludedAttributes=members`, patch(...operations));
  expect(made.status).toBe(200);
  expect((await directory.scim("GET", `/Groups/${small}`)).body.members).toHaveLength(5_000);
  const [one = add([])] = operations;
  const more = patch(...operations.slice(1), { ...one, value: values(ids.slice(0, 6)) });
  expect(await directory.scim("PATCH", `/Groups/${small}`, more)).toMatchObject(tooMany);
});

test("who is added by the directory and was in a group until a time stays in it", async () => {
  const id = await newUser(directory.scim);
  const small = await newGroup(directory.scim);
  const [parentPath, memberPath] = [`${scene.org}/groups/@${small}`, `${scene.org}/members/@${id}`];
  const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
  const { api } = scene;
  await api.groupMembers.createGroupMember({ parentPath, groupMember: { memberPath, expireTime } });
  const { body } = await directory.scim("PATCH", `/Groups/${small}`, patch(add([id])));
  expect(body.members).toMatchObject([{ value: id }]);
  const { members } = await api.groupMembers.listGroupMembers({ parentPath });
  expect(members.map((each) => each.expireTime)).toEqual([undefined]);
});
