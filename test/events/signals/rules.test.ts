// Tests who may have an event stream deliver, where to and what, and what becomes of it when its member loses its access.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  EventStream_DisabledReason as Reason,
  EventStream_State as State,
  EventStream_SubjectFormat as SubjectFormat,
} from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { supportedEventTypes } from "../../../src/events/signals/event-types.ts";
import { type Caller, openCompany } from "../../access/callers.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { type SignalPlace, accepted, audience, openSignalPlace, readConfiguration, verifyAll } from "./place.ts";

let place: SignalPlace;
beforeAll(async () => {
  place = await openSignalPlace();
});
afterAll(() => place.close());

const create = (caller: Pick<Caller, "eventStreams">, fields: object = {}) =>
  caller.eventStreams.createEventStream({
    parentPath: place.company.org.path,
    eventStream: { name: uniqueName("stream"), audience, ...fields },
  });

/** Returns a member with a role of these permissions, and its binding. */
async function joinWith(
  permissions: readonly string[],
): Promise<{ readonly member: Caller; readonly binding: string }> {
  const { company } = place;
  const role = await company.api.roles.createRole({
    parentPath: company.org.path,
    role: { name: uniqueName("role"), permissions: [...permissions] },
  });
  const member = await company.join(uniqueName("member"));
  return { member, binding: await company.bind(company.org.path, role.path, member) };
}

test.each([
  [{ audience: " " }, "event_stream.audience: must be what the receiver calls itself"],
  [{ pushUrl: "http://gateway.example.com/" }, "event_stream.push_url: must begin with https://"],
  [{ pushUrl: "https://169.254.169.254/latest/meta-data/" }, "event_stream.push_url: must be at a public address"],
  [{ pushUrl: "https://[::ffff:a00:1]/" }, "event_stream.push_url: must be at a public address"],
  [{ pushAuthorization: "Bearer x" }, "event_stream.push_authorization: must be empty without a push_url"],
  [
    { pushUrl: "https://gateway.invalid/", pushAuthorization: "Bearer x\r\nx-evil: 1" },
    "event_stream.push_authorization: must be the value of a header",
  ],
  [
    { eventTypes: [supportedEventTypes[0], "https://example.com/other"] },
    `event_stream.event_types[1]: must be one of ${supportedEventTypes[0]}`,
  ],
])("%j is refused", async (fields, message) => {
  await expect(create(place.owner, fields)).rejects.toThrow(message);
});

test("what is given as authorization is returned by no method, and kept encrypted", async () => {
  const { eventStreams } = place.owner;
  const fields = { pushUrl: "https://gateway.invalid/", pushAuthorization: "Bearer of-the-receiver" };
  const created = await create(place.owner, fields);
  const read = await eventStreams.getEventStream({ path: created.path });
  expect([created.pushAuthorization, read.pushAuthorization]).toEqual(["", ""]);
  const [row] = await place.sql.query("select sealed_authorization from event_streams where id = $1", [created.id]);
  const sealed = required(row)["sealed_authorization"] as Buffer;
  expect(sealed.length).toBeGreaterThan(20);
  expect(sealed.includes("of-the-receiver")).toBe(false);
});

test("who may not list the changes of the org creates no stream, and neither does a credential with limits", async () => {
  const { company, server } = place;
  const { member: without } = await joinWith(["iam.eventStreams.create"]);
  await expect(create(without)).rejects.toThrow(
    "an event stream delivers what its member may see: requires iam.changes.list",
  );
  const { member } = await joinWith(["iam.eventStreams.create", "iam.changes.list", "iam.apiKeys.create"]);
  await create(member);
  const limits = [
    { scopes: ["iam.eventStreams.create", "iam.changes.list"] },
    { expireTime: timestampFromDate(new Date(Date.now() + 3_600_000)) },
    { allowedAddresses: ["127.0.0.0/8"] },
  ];
  for (const limit of limits) {
    const apiKey = { name: uniqueName("key"), ...limit };
    const { secret } = await company.api.apiKeys.createApiKey({ parentPath: member.path, apiKey });
    const limited = createApi("Connect", server.url, required(secret));
    await expect(create(limited)).rejects.toThrow("nobody can have an event stream deliver for its member");
  }
});

test("a stream whose member loses its access sends nothing more, and goes on for who resumes it", async () => {
  const { company, owner } = place;
  const receiver = await startReceiver(accepted);
  const { member, binding } = await joinWith(["iam.eventStreams.create", "iam.changes.list"]);
  const { path } = await create(member, { pushUrl: receiver.url });
  await company.api.roleBindings.deleteRoleBinding({ path: binding });
  const alice = await company.join(uniqueName("alice"));
  const read = async () => {
    const { state, disabledReason } = await owner.eventStreams.getEventStream({ path });
    return [state, disabledReason];
  };
  await expect.poll(read).toEqual([State.DISABLED, Reason.ACCESS_LOST]);
  expect(receiver.received).toEqual([]);
  const { memberPath } = await owner.eventStreams.resumeEventStream({ path });
  expect(memberPath).toContain((await company.api.members.getMember({ path: owner.path })).id);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  expect(alice.path).not.toBe("");
});

test("nothing of another org is sent, also of its customer", async () => {
  const { company, server } = place;
  const other = await openCompany("gRPC", server, company.org.customerPath);
  const [own, foreign] = [await startReceiver(accepted), await startReceiver(accepted)];
  await place.createStream({ pushUrl: own.url });
  await place.createStream({ pushUrl: foreign.url }, other);
  await other.join("mallory");
  await expect.poll(() => foreign.received.length).toBe(1);
  const { path } = await company.join(uniqueName("bob"));
  const { id } = await company.api.members.getMember({ path });
  await expect.poll(() => own.received.length).toBe(1);
  const [event] = await verifyAll(place, own.received);
  expect(event?.subject["sub"]).toBe(id);
  expect(foreign.received).toHaveLength(1);
});

test("the suspension, activation and deletion of the org are sent, and where it is suspended, the rest waits for nothing", async () => {
  const { server } = place;
  const other = await openCompany("gRPC", server, place.company.org.customerPath);
  const receiver = await startReceiver(accepted);
  await place.createStream({ pushUrl: receiver.url, subjectFormat: SubjectFormat.COMPLEX }, other);
  const { path, id } = other.org;
  await other.api.orgs.suspendOrg({ path });
  await expect.poll(() => receiver.received.length).toBe(1);
  await other.api.orgs.activateOrg({ path });
  await other.api.orgs.deleteOrg({ path });
  await expect.poll(() => receiver.received.length).toBe(4);
  const events = await verifyAll(place, receiver.received);
  expect(events.map(({ type }) => type.split("/").at(-1))).toEqual([
    "account-disabled",
    "account-enabled",
    "session-revoked",
    "account-disabled",
  ]);
  const tenant = { format: "complex", tenant: { format: "opaque", id } };
  expect(events.map(({ subject }) => subject)).toEqual([tenant, tenant, tenant, tenant]);
});

test("credentials that are made, replaced and removed, and members that come back, have events of their own", async () => {
  const { company } = place;
  const stream = await place.createStream({ subjectFormat: SubjectFormat.COMPLEX });
  const { api, org } = company;
  const parentPath = org.path;
  const { id } = await api.members.createMember({ parentPath, member: { name: uniqueName("carol") } });
  const path = `${parentPath}/members/@${id}`;
  await api.members.suspendMember({ path });
  await api.members.activateMember({ path });
  const client = { name: uniqueName("app"), confidential: true, redirectUris: ["https://app.example.com/"] };
  const { path: clientPath } = await api.clients.createClient({ parentPath, client });
  await api.clients.rotateClient({ path: clientPath });
  await api.clients.deleteClient({ path: clientPath });
  const provider = { name: uniqueName("login"), issuer: "https://login.example.com", clientId: "tenantry" };
  const { path: identityProviderPath } = await api.identityProviders.createIdentityProvider({
    parentPath,
    identityProvider: provider,
  });
  const identity = { name: "login", identityProviderPath, subject: uniqueName("subject") };
  const { path: identityPath } = await api.identities.createIdentity({ parentPath: path, identity });
  await api.identities.deleteIdentity({ path: identityPath });
  await api.members.deleteMember({ path });
  await api.members.undeleteMember({ path });
  await api.members.deleteMember({ path });
  const { sets } = await place.poll(stream);
  const events = await Promise.all(Object.values(sets).map((token) => place.verify(token)));
  const sorted = events.toSorted((one, other) => (`${one.txn}${one.jti}` < `${other.txn}${other.jti}` ? -1 : 1));
  const told = sorted.map(({ type, event }) => [
    type.split("/").at(-1),
    event["credential_type"],
    event["change_type"],
  ]);
  expect(told.map((each) => each.filter((part) => typeof part === "string").join(" "))).toEqual([
    "session-revoked",
    "account-disabled",
    "account-enabled",
    "credential-change client_secret create",
    "credential-change client_secret update",
    "credential-change client_secret delete",
    "session-revoked",
    "credential-change federated_identity create",
    "credential-change federated_identity delete",
    "session-revoked",
    "account-disabled",
    "account-enabled",
    "session-revoked",
    "account-disabled",
  ]);
});

test("who impersonates a member has a token, which is no event and keeps back none", async () => {
  const { company, owner } = place;
  const receiver = await startReceiver(accepted);
  await place.createStream({ pushUrl: receiver.url });
  const polled = await place.createStream();
  const parentPath = company.org.path;
  const { path } = await company.api.members.createMember({ parentPath, member: { name: uniqueName("app"), type: 2 } });
  const { accessToken } = await owner.members.impersonateMember({ path });
  expect(accessToken).not.toBe("");
  await company.api.members.revokeTokens({ path });
  await expect.poll(() => receiver.received.length).toBe(1);
  const { sets } = await place.poll(polled);
  const [pushed, given] = [
    await verifyAll(place, receiver.received),
    await Promise.all(Object.values(sets).map((token) => place.verify(token))),
  ];
  expect([...pushed, ...given].map(({ type }) => type)).toEqual([
    "caep/event-type/session-revoked",
    "caep/event-type/session-revoked",
  ]);
});

test("the transmitter says how it signs and delivers", async () => {
  const configuration = await readConfiguration(place.server.url);
  const { issuer } = configuration;
  expect(configuration).toEqual({
    spec_version: "1_0",
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    delivery_methods_supported: ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"],
    critical_subject_members: [],
    default_subjects: "ALL",
  });
});
