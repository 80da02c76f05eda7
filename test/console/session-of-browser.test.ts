// The part of the console in the browser that keeps the session, against answers of the service.
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSession } from "../../console/src/session/session.ts";

interface Asked {
  readonly method: string;
  readonly body: { readonly member?: string };
}

const describeMember = (name: string, org: string) => ({
  member: `/orgs/${org}/members/${name}`,
  id: `id-of-${name}`,
  display_name: name,
  org: { path: `/orgs/${org}`, id: "id-of-acme", display_name: "Acme" },
});

const byIds = (name: string): string => `/orgs/@id-of-acme/members/@id-of-${name}`;

/** A service at which alice and bob of one org are signed in. */
function openService() {
  const asked: Asked[] = [];
  const left: string[] = [];
  const state = { now: 0, org: "acme", signOut: Response.json({}), hasEnded: false };
  const answer = ({ method, body: { member } }: Asked): Response => {
    if (method === "DELETE") {
      state.hasEnded ||= state.signOut.ok;
      return state.signOut;
    }
    const members = ["alice", "bob"].map((name) => describeMember(name, state.org));
    const found = members.find((each) =>
      [each.member, `/orgs/@${each.org.id}/members/@${each.id}`].includes(member ?? each.member),
    );
    if (found === undefined || state.hasEnded)
      return Response.json({ error: { sign_in: "/sign-in" } }, { status: 401 });
    const life = {
      access_token: `${found.id}-${asked.length}`,
      expire_time: new Date(state.now + 60_000).toISOString(),
    };
    return Response.json({ ...life, ...found, members });
  };
  const session = createSession({
    async fetch(_path, init) {
      const body = typeof init?.body === "string" ? init.body : "{}";
      const request = { method: init?.method ?? "", body: JSON.parse(body) as Asked["body"] };
      asked.push(request);
      return answer(request);
    },
    now: () => state.now,
    leaveTo: (path) => void left.push(path),
    here: () => "/console/orgs/acme",
  });
  return { asked, left, state, session };
}

async function other({ session }: ReturnType<typeof openService>, name: string) {
  await session.token();
  const member = session.current()?.members.find((each) => each.displayName === name);
  if (member === undefined) throw new Error(name);
  return member;
}

test("goes on as the same member after the org has got another name", async () => {
  const service = openService();
  const { session, state, asked, left } = service;
  await session.token();
  state.org = "apex";
  state.now += 60_000;
  expect(await session.token()).toBe("id-of-alice-2");
  expect(asked.at(-1)?.body).toEqual({ member: byIds("alice") });
  await session.actAs(await other(service, "bob"));
  expect([session.current()?.member, left]).toEqual(["/orgs/apex/members/bob", []]);
});

test("acts as the member that was asked for, also if another one is asked for at the same time", async () => {
  const service = openService();
  const [alice, bob] = [await other(service, "alice"), await other(service, "bob")];
  const { session, state } = service;
  state.now += 60_000;
  // A call renews the token of alice, while both are asked for.
  const answers = await Promise.all([session.token(), session.actAs(bob), session.actAs(alice), session.actAs(bob)]);
  expect(answers.slice(1)).toMatchObject([{ displayName: "bob" }, { displayName: "alice" }, { displayName: "bob" }]);
  expect(session.current()?.displayName).toBe("bob");
});

test("leaves after a sign-out, and says what the service says if that has failed", async () => {
  const { session, state, left } = openService();
  await session.token();
  state.signOut = Response.json({ error: { message: "a session could not be ended" } }, { status: 503 });
  await expect(session.signOut()).rejects.toThrow("a session could not be ended");
  state.signOut = new Response("Bad gateway", { status: 502 });
  await expect(session.signOut()).rejects.toThrow("The service answered 502.");
  expect(left).toEqual([]);
  state.signOut = Response.json({});
  await session.signOut();
  expect(left).toEqual(["/sign-in"]);
});

test("what still asks while somebody signs out does not lead back to the console", async () => {
  const { session, state, left } = openService();
  await session.token();
  state.now += 60_000;
  const signedOut = session.signOut();
  void session.token();
  await signedOut;
  void session.token();
  await setTimeout(1);
  expect(left).toEqual(["/sign-in"]);
});

test("a session that has ended leads back to the console, also if a sign-out has failed", async () => {
  const { session, state, left } = openService();
  await session.token();
  state.signOut = Response.json({ error: { message: "a session could not be ended" } }, { status: 503 });
  await expect(session.signOut()).rejects.toThrow("a session could not be ended");
  state.hasEnded = true;
  state.now += 60_000;
  void session.token();
  await expect.poll(() => left).toEqual(["/sign-in?return_to=%2Fconsole%2Forgs%2Facme"]);
});
