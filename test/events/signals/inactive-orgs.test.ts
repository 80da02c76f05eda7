// Tests what receivers learn of an org that is suspended or deleted, where nobody may read but who can lift the suspension.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { EventStream } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { TokensService } from "../../../gen/iam/v1alpha/token_pb.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { createTransport } from "../../support/transports.ts";
import { type Received, answerWith, startReceiver } from "../webhooks/receiver.ts";
import { type SignalPlace, accepted, audience, openSignalPlace, verifyAll } from "./place.ts";

let place: SignalPlace;
beforeAll(async () => {
  place = await openSignalPlace();
});
afterAll(() => place.close());

let company: Company;
let path: string;
/** May list the changes of the org, and not lift its suspension. */
let reader: Caller;
let binding: string;
beforeEach(async () => {
  company = await openCompany("gRPC", place.server, place.company.org.customerPath);
  ({ path } = company.org);
  const permissions = ["iam.eventStreams.create", "iam.changes.list"];
  const role = { name: "reader", permissions };
  const { path: rolePath } = await company.api.roles.createRole({ parentPath: path, role });
  reader = await company.join("reader");
  binding = await company.bind(path, rolePath, reader);
});

const createStream = (caller: Pick<Caller, "eventStreams">, pushUrl = ""): Promise<EventStream> =>
  caller.eventStreams.createEventStream({
    parentPath: path,
    eventStream: { name: uniqueName("stream"), audience, pushUrl },
  });

/** Has a member issue a token, and returns what revokes it, also in a suspended org. */
async function issueToken(): Promise<() => Promise<unknown>> {
  const member = await company.join(uniqueName("member"));
  const tokens = createClient(TokensService, createTransport("gRPC", place.server.url, member.key));
  const { accessToken: token } = await tokens.issueToken({});
  return () => tokens.revokeToken({ token });
}

const typesOf = async (received: readonly Pick<Received, "body">[]): Promise<readonly string[]> => {
  const events = await verifyAll(place, received as readonly Received[]);
  return events.map(({ type }) => type.split("/").at(-1) ?? "");
};

const polled = async (stream: EventStream): Promise<readonly string[]> => {
  const { sets } = await place.poll(stream, undefined, place.server.operatorKey);
  return typesOf(Object.values(sets).map((body) => ({ body })));
};

const stateOf = async ({ id }: EventStream): Promise<unknown[]> => {
  const [row] = await place.sql.query(
    "select state, disabled_reason, next_attempt_time > now() + interval '5 minutes' as waits from event_streams where id = $1",
    [id],
  );
  return [row?.["state"], row?.["disabled_reason"], row?.["waits"]];
};

test("what happens in a suspended org waits for it to be active again, the suspension does not", async () => {
  const [early, late] = [await issueToken(), await issueToken()];
  const [ofReader, ofOperator] = [await startReceiver(accepted), await startReceiver(accepted)];
  const stream = await createStream(reader, ofReader.url);
  const toPoll = await createStream(reader);
  await createStream(company.api, ofOperator.url);
  await early();
  await company.api.orgs.suspendOrg({ path });
  await late();
  await expect.poll(() => ofOperator.received.length).toBe(3);
  await expect.poll(() => stateOf(stream)).toEqual(["ACTIVE", null, true]);
  expect(await typesOf(ofReader.received)).toEqual(["session-revoked", "account-disabled"]);
  expect(await polled(toPoll)).toEqual(["session-revoked", "account-disabled"]);
  await company.api.orgs.activateOrg({ path });
  await expect.poll(() => ofReader.received.length).toBe(4);
  const all = ["session-revoked", "account-disabled", "session-revoked", "account-enabled"];
  expect(await typesOf(ofReader.received)).toEqual(all);
  expect(await polled(toPoll)).toEqual(all);
  await expect.poll(() => ofOperator.received.length).toBe(4);
  expect(await typesOf(ofOperator.received)).toEqual(all);
});

test("the deletion of a suspended org is sent", async () => {
  const receiver = await startReceiver(accepted);
  await createStream(reader, receiver.url);
  await company.api.orgs.suspendOrg({ path });
  await expect.poll(() => receiver.received.length).toBe(1);
  await company.api.orgs.deleteOrg({ path });
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(await typesOf(receiver.received)).toEqual(["account-disabled", "session-revoked", "account-disabled"]);
});

test.each([
  ["suspended", () => company.api.orgs.suspendOrg({ path })],
  ["deleted", () => company.api.orgs.deleteOrg({ path })],
])("who has lost its role before the org was %s is sent nothing", async (_how, end) => {
  const revoke = await issueToken();
  const receiver = await startReceiver(answerWith(503));
  const stream = await createStream(reader, receiver.url);
  await revoke();
  // What becomes of the request is recorded before the change of the org ends the wait.
  await expect.poll(() => stateOf(stream)).toEqual(["ACTIVE", null, true]);
  receiver.answer = accepted;
  await company.api.roleBindings.deleteRoleBinding({ path: binding });
  await end();
  // The change of the org ends the wait.
  await expect.poll(() => stateOf(stream)).toEqual(["DISABLED", "ACCESS_LOST", false]);
  expect(receiver.received).toHaveLength(1);
});

test("the deletion of a customer is sent of each org, also for a member of another one that goes with it", async () => {
  const home = await openCompany("gRPC", place.server);
  const { customerPath } = home.org;
  const customer = await home.api.customers.getCustomer({ path: customerPath });
  const other = await openCompany("gRPC", place.server, customerPath);
  ({ path } = other.org);
  const member = await home.join("member");
  await home.bind(customerPath, "owner", member);
  const [whole, single] = [await startReceiver(accepted), await startReceiver(accepted)];
  await createStream(member, whole.url);
  await home.api.customers.deleteCustomer({ path: customerPath });
  await expect.poll(() => whole.received.length).toBe(2);
  expect(await typesOf(whole.received)).toEqual(["session-revoked", "account-disabled"]);

  // That its own org goes alone ends its access.
  await home.api.customers.undeleteCustomer({ path: `customers/@${customer.id}` });
  const stream = await createStream(member, single.url);
  await home.api.orgs.deleteOrg({ path: home.org.path });
  await home.api.orgs.suspendOrg({ path });
  await expect.poll(() => stateOf(stream)).toEqual(["DISABLED", "ACCESS_LOST", false]);
  expect(single.received).toEqual([]);
});
