// Tests that sign-ins, good and bad, are in the logs of the orgs that they concern.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AccessEvent, AccessEvent_Kind } from "../../gen/iam/v1alpha/access_event_pb.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { ServiceError, concerning } from "../../src/errors/service-error.ts";
import { createNoteSignIns } from "../../src/sign-in/note-sign-ins.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { uniqueName } from "../support/api.ts";
import {
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  sendForm,
  sharedTokenServers,
} from "../support/token-servers.ts";

let place: SharedTokenServers;
let database: Database;
let org: { readonly path: string; readonly id: string };

beforeAll(async () => {
  place = await sharedTokenServers();
  const connection = { connectionString: place.servers[0].databaseUrl };
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} });
  org = await place.api.orgs.createOrg({ org: { name: uniqueName("org") } });
});
afterAll(() => database.close());

const newMember = (): Promise<TokenMember> => createTokenMember(place.api, org.path, "viewer");

/** Waits for the events that match, the earliest first. */
async function eventsOf(filter: string, count: number): Promise<readonly AccessEvent[]> {
  let events: readonly AccessEvent[] = [];
  await expect
    .poll(async () => {
      const list = { parentPath: org.path, filter, orderBy: "time" };
      events = (await place.api.accessEvents.listAccessEvents(list)).accessEvents;
      return events.length;
    })
    .toBe(count);
  return events;
}

const { SIGN_IN_FAILED, SIGN_IN_SUCCEEDED } = AccessEvent_Kind;

test("a browser that signs in with a code is in the log, and one with a code that nobody has is in none", async () => {
  const member = await newMember();
  const code = await createSignInLink(database, { orgId: org.id, memberId: member.id });
  const signIn = (text: string) =>
    fetch(`${place.servers[0].url}/sign-in/code`, {
      method: "POST",
      body: new URLSearchParams({ code: text }),
      headers: { "sec-fetch-site": "same-origin" },
      redirect: "manual",
    });
  expect((await signIn("mistyped")).status).toBe(400);
  expect((await signIn(code)).status).toBe(303);
  const [event] = await eventsOf(`caller_path = "${member.path}"`, 1);
  expect(event).toMatchObject({ kind: SIGN_IN_SUCCEEDED, method: "sign-in", reason: "", count: 1 });
  expect(event?.remoteAddress).not.toBe("");
});

test("a sign-in that fails is noted for whom it concerns, and one of nobody is not", async () => {
  const noted: AccessEvent[] = [];
  const { watch } = createNoteSignIns((event) => void noted.push(event as never));
  const where = { remoteAddress: "192.0.2.7", requestId: "r" };
  const signIn = { method: "sign-in", where };
  const fail = (error: unknown) => watch(signIn, () => Promise.reject(error)).catch((thrown: unknown) => thrown);
  const refused = new ServiceError("GRANT_INVALID", "the provider refused");
  expect(await fail(refused)).toBe(refused);
  expect(noted).toEqual([]);
  await fail(concerning(refused, { orgId: org.id }));
  await fail(concerning(refused, { orgId: org.id, member: { memberId: "m", credentialId: "c" } }));
  await fail(concerning(new Error("the database is away"), { orgId: org.id }));
  const shared = { kind: "SIGN_IN_FAILED", method: "sign-in", reason: "GRANT_INVALID", ...where };
  expect(noted).toMatchObject([
    { ...shared, org: { by: "id", value: org.id }, caller: undefined },
    { ...shared, org: undefined, caller: { orgId: org.id, memberId: "m", credentialId: "c" } },
  ]);
});

test("an application that gets a token with its key is in the log, and one whose key has ended", async () => {
  const member = await newMember();
  const grant = { grant_type: "client_credentials", client_secret: member.key };
  expect((await sendForm(place.servers[0], "token", grant)).status).toBe(200);
  await place.api.members.suspendMember({ path: member.path });
  expect((await sendForm(place.servers[0], "token", grant)).status).toBe(401);
  const events = await eventsOf(`caller_path = "${member.path}"`, 2);
  expect(events).toMatchObject([
    { kind: SIGN_IN_SUCCEEDED, method: "oauth2/token" },
    { kind: SIGN_IN_FAILED, method: "oauth2/token", reason: "TOKEN_INVALID" },
  ]);
  expect(events[1]?.credentialId).toBe(events[0]?.credentialId);
});

test("a client that does not know its secret is in the log of its org", async () => {
  const { clients } = place.api;
  const redirectUris = ["https://client.example/back"];
  const client = await clients.createClient({
    parentPath: org.path,
    client: { name: uniqueName("client"), redirectUris, confidential: true },
  });
  const grant = { grant_type: "authorization_code", client_id: client.id, client_secret: "guessed", code: "c" };
  expect((await sendForm(place.servers[0], "token", grant)).status).toBe(401);
  const [event] = await eventsOf("caller_type = UNKNOWN", 1);
  expect(event).toMatchObject({ kind: SIGN_IN_FAILED, method: "oauth2/token", callerPath: "" });
  expect(event?.remoteAddress).not.toBe("");
});
