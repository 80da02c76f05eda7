import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Member, MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import type { OrgHeads } from "../../src/access/snapshots/org-heads.ts";
import {
  type FreshResponse,
  createRevalidatedResponses,
} from "../../src/standard-methods/read/revalidated-responses.ts";

/** Orgs whose revisions the test sets, and responses that say which read they come from. */
function setUp(maxBytes = 1_000_000) {
  const revisions = new Map<string, string>();
  /** The deleted orgs, and the database's clock. */
  const state = { deleted: new Set<string>(), now: 0 };
  const heads: OrgHeads = async ([org]) => {
    const id = org.by === "any" ? "" : org.value;
    const revision = revisions.get(id);
    if (revision === undefined) return undefined;
    const { now, deleted } = state;
    const orgHead = { id, name: id, customer_id: "", state: "ACTIVE", now, readAt: 0 } as const;
    return { ...orgHead, delete_time: deleted.has(id) ? new Date(0) : null, revision };
  };
  const responses = createRevalidatedResponses(heads, maxBytes);
  let reads = 0;
  const ask = async (orgIds: string, key: string, make?: () => Promise<FreshResponse<Member>>) => {
    const caller = { orgId: "other", orgHead: { revision: "", readAt: 0 }, time: 0, clientId: "a", recentHeads: [] };
    const read = async () => responseTo(`read ${++reads}`);
    const [first = "", ...rest] = orgIds.split(" ");
    const orgs = [{ by: "id", value: first }, ...rest.map((value) => ({ by: "id", value }) as const)] as const;
    return (await responses.respond({ orgs, key, caller }, make ?? read)).message;
  };
  return { revisions, state, responses, ask, reads: () => reads };
}

const responseTo = (name: string, isReused = true, endsAt = Infinity): FreshResponse<Member> => ({
  message: create(MemberSchema, { name }),
  isReused,
  endsAt,
});

test("a response that is asked for again is kept while its org has the revision", async () => {
  const { revisions, ask } = setUp();
  revisions.set("a", "1");
  expect((await ask("a", "list")).name).toBe("read 1");
  expect((await ask("a", "list")).name).toBe("read 2");
  const kept = await ask("a", "list");
  expect(kept.name).toBe("read 2");
  expect(() => (kept.name = "changed")).toThrow(TypeError);
  expect((await ask("a", "another list")).name).toBe("read 3");
  revisions.set("a", "2");
  expect((await ask("a", "list")).name).toBe("read 4");
  expect((await ask("a", "list")).name).toBe("read 4");
  // A failover can bring an earlier revision back; its responses are read again, not remembered.
  revisions.set("a", "1");
  expect((await ask("a", "list")).name).toBe("read 5");
});

test("a response that was read while its org changed is used once", async () => {
  const { revisions, ask } = setUp();
  revisions.set("a", "1");
  await ask("a", "list");
  const changing = async () => {
    revisions.set("a", "2");
    return responseTo("between");
  };
  expect((await ask("a", "list", changing)).name).toBe("between");
  expect((await ask("a", "list")).name).toBe("read 2");
});

test("a response that must not be kept is not, and neither is one of an org that does not exist", async () => {
  const { revisions, ask } = setUp();
  const once = async () => responseTo("once", false);
  for (let time = 0; time < 3; time++) await ask("a", "list", once);
  expect((await ask("a", "list")).name).toBe("read 1");
  revisions.set("a", "1");
  for (let time = 0; time < 3; time++) await ask("a", "list", once);
  expect((await ask("a", "list")).name).toBe("read 2");
});

test("requests at the same time share one read, unless it fails", async () => {
  const { revisions, ask, reads } = setUp();
  revisions.set("a", "1");
  await ask("a", "list");
  await ask("a", "list");
  revisions.set("a", "2");
  const before = reads();
  const all = await Promise.all(Array.from({ length: 20 }, () => ask("a", "list")));
  expect(new Set(all.map(({ name }) => name)).size).toBe(1);
  expect(reads() - before).toBe(1);
  revisions.set("a", "3");
  const failing = ask("a", "list", () => Promise.reject(new Error("gone")));
  const waiting = ask("a", "list");
  await expect(failing).rejects.toThrow("gone");
  expect((await waiting).name).toBe(`read ${before + 2}`);
});

test("the caller's own org is revalidated by the read of its credential", async () => {
  const { responses, revisions } = setUp();
  const ask = (revision: string, name: string) =>
    responses.respond(
      {
        orgs: [{ by: "id", value: "own" }],
        key: "get",
        caller: { orgId: "own", orgHead: { revision, readAt: 0 }, time: 0, clientId: "a", recentHeads: [] },
      },
      async () => responseTo(name),
    );
  revisions.set("own", "1");
  expect(await ask("1", "one")).toMatchObject({ message: { name: "one" }, isReused: false });
  expect(await ask("1", "two")).toMatchObject({ message: { name: "two" }, isReused: true });
  expect(await ask("1", "three")).toMatchObject({ message: { name: "two" }, isReused: true });
  expect(await ask("2", "four")).toMatchObject({ message: { name: "four" }, isReused: true });
});

test("a response that was read from several orgs is used again only if none of them has changed", async () => {
  const { revisions, ask } = setUp();
  revisions.set("a", "1").set("system", "1");
  for (let time = 0; time < 3; time++) await ask("a system", "get");
  expect((await ask("a system", "get")).name).toBe("read 2");
  revisions.set("system", "2");
  expect((await ask("a system", "get")).name).toBe("read 3");
  revisions.set("a", "2");
  expect((await ask("a system", "get")).name).toBe("read 4");
  expect((await ask("a system", "get")).name).toBe("read 4");
  // One that changes while the response is read keeps it from being reused.
  const changing = async () => {
    revisions.set("system", "3");
    return responseTo("between");
  };
  revisions.set("a", "3");
  expect((await ask("a system", "get", changing)).name).toBe("between");
  expect((await ask("a system", "get")).name).toBe("read 5");
});

test("a response with a row that ends is used again until then, by the database's clock", async () => {
  const { revisions, state, ask } = setUp();
  revisions.set("a", "1");
  const ending = async () => responseTo("ending", true, 1_000);
  for (let time = 0; time < 3; time++) await ask("a", "list", ending);
  state.now = 999;
  expect((await ask("a", "list")).name).toBe("ending");
  state.now = 1_000;
  expect((await ask("a", "list")).name).toBe("read 1");
  expect((await ask("a", "list")).name).toBe("read 1");
});

test("a request does not share a read that it finds under way, if a row has ended in the meantime", async () => {
  const { revisions, state, ask } = setUp();
  revisions.set("a", "1");
  await ask("a", "list");
  const { promise, resolve } = Promise.withResolvers<FreshResponse<Member>>();
  const first = ask("a", "list", () => promise);
  await Promise.resolve();
  state.now = 1_000;
  const second = ask("a", "list");
  resolve(responseTo("ending", true, 1_000));
  expect((await first).name).toBe("ending");
  expect((await second).name).toBe("read 2");
});

test("responses about a deleted org are not kept", async () => {
  const { revisions, state, ask } = setUp();
  revisions.set("a", "1");
  for (let time = 0; time < 3; time++) await ask("a", "list");
  state.deleted.add("a");
  expect((await ask("a", "list")).name).toBe("read 3");
  expect((await ask("a", "list")).name).toBe("read 4");
});

test("another org that asks for much has no responses kept later", async () => {
  const { revisions, ask } = setUp();
  revisions.set("a", "1");
  revisions.set("b", "1");
  await ask("a", "list");
  for (let number = 0; number < 20_000; number++) await ask("b", `list ${number}`);
  const second = await ask("a", "list");
  expect((await ask("a", "list")).name).toBe(second.name);
});

test("texts count with what they take in JSON", async () => {
  const { revisions, ask, reads } = setUp(100_000);
  revisions.set("a", "1");
  const withText = (text: string) => async () => ({
    ...responseTo("kept"),
    message: create(MemberSchema, { name: "kept", description: text }),
  });
  for (const [key, text] of [
    ["letters", "a".repeat(2_000)],
    ["control characters", "\u0001".repeat(2_000)],
  ] as const) {
    await ask("a", key, withText(text));
    await ask("a", key, withText(text));
  }
  expect((await ask("a", "letters")).name).toBe("kept");
  await ask("a", "control characters");
  // A quarter of the memory is 25,000 bytes, of which the second takes more.
  expect(reads()).toBe(1);
});

test("the least recently used responses are dropped, and no org takes more than a quarter", async () => {
  const { revisions, ask } = setUp(40_000);
  const long = "x".repeat(1_000);
  const fill = async (orgId: string, key: string): Promise<Member> => {
    const message = create(MemberSchema, { name: key, description: long });
    const make = async () => ({ message, isReused: true, endsAt: Infinity });
    await ask(orgId, key, make);
    return ask(orgId, key, make);
  };
  const isKept = async (orgId: string, key: string): Promise<boolean> => (await ask(orgId, key)).name === key;
  for (const orgId of ["small", "large"]) revisions.set(orgId, "1");
  await fill("small", "small");
  for (let index = 0; index < 20; index++) await fill("large", `large ${index}`);
  expect(await isKept("small", "small")).toBe(true);
  expect(await isKept("large", "large 0")).toBe(false);
  expect(await isKept("large", "large 19")).toBe(true);
});
