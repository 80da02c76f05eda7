// Tests streams of changes: what they send, from which revision, over each protocol, and how they end.
import { beforeAll, describe, expect, test } from "vitest";
import { type Change, Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { protocols } from "../support/transports.ts";
import { changeOf, isAbout, isSynced, watchLog } from "../support/watch-log.ts";

let server: SharedServer;
let second: SharedServer;
let company: Company;
let owner: Caller;
let parentPath: string;
beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
  company = await openCompany("Connect", server);
  parentPath = company.org.path;
  owner = await company.joinAs("owner");
});

const createMember = (name: string, by: Pick<Caller, "members"> = owner) =>
  by.members.createMember({ parentPath, member: { name } });

const keyOf = ({ revision, position }: Change): string => `${revision} ${position}`;

/** Returns all changes of the org, the earliest first. */
async function listAll(): Promise<Change[]> {
  const { changes } = await owner.changes.listChanges({ parentPath, orderBy: "time", pageSize: 1000 });
  return changes;
}

describe.each(protocols)("over %s, a stream of changes", (protocol) => {
  const name = protocol.toLowerCase().replace(/\W/g, "");

  test("begins now, and sends what a list shows of each change", async () => {
    const api = createApi(protocol, server.url, owner.key);
    const watch = watchLog(api, { parentPath, view: Change_View.PROVED });
    const first = await watch.until(() => true);
    expect(first.event).toMatchObject({ case: "checkpoint", value: { synced: true } });
    await createMember(`${name}1`);
    await owner.members.updateMember({ path: `${parentPath}/members/${name}1`, member: { displayName: "One" } });
    await watch.until((message) => changeOf(message)?.changedFields.includes("display_name") === true);
    const { changes } = await owner.changes.listChanges({
      parentPath,
      orderBy: "time",
      view: Change_View.PROVED,
      filter: `resource_path = "${parentPath}/members/${name}1"`,
    });
    expect(watch.changes()).toEqual(changes);
    watch.close();
  });

  test("resumes after each of its messages, so that every revision is sent once and in order", async () => {
    const api = createApi(protocol, server.url, owner.key);
    const before = (await listAll()).at(-1)?.revision ?? "";
    await owner.members.batchCreateMembers({
      parentPath,
      requests: ["2", "3", "4"].map((each) => ({ member: { name: `${name}${each}` } })),
    });
    await createMember(`${name}5`);
    const whole = watchLog(api, { parentPath, afterRevision: before });
    await whole.until(isSynced);
    whole.close();
    const [start] = whole.received;
    expect(start?.event).toMatchObject({ case: "checkpoint", value: { revision: before, synced: false } });
    const all = (await listAll()).filter(({ revision }) => revision > before).map(keyOf);
    expect(whole.received.flatMap(({ event }) => (event.case === "change" ? [keyOf(event.value)] : []))).toEqual(all);
    for (const [index, { resumeRevision }] of whole.received.entries()) {
      const sent = whole.received.slice(0, index + 1);
      const isWhole = (change: Change): boolean => change.revision <= resumeRevision;
      const complete = sent.flatMap(({ event }) =>
        event.case === "change" && isWhole(event.value) ? [keyOf(event.value)] : [],
      );
      const rest = watchLog(api, { parentPath, afterRevision: resumeRevision });
      await rest.until(isSynced);
      rest.close();
      const resumed = rest.received.flatMap(({ event }) => (event.case === "change" ? [keyOf(event.value)] : []));
      expect([...complete, ...resumed].slice(0, all.length)).toEqual(all);
    }
  });

  test("sends what another server writes", async () => {
    const api = createApi(protocol, second.url, owner.key);
    const watch = watchLog(api, { parentPath });
    await watch.until(isSynced);
    await createMember(`${name}6`);
    const message = await watch.until(isAbout(`${name}6`));
    expect(message.resumeRevision).toBe(changeOf(message)?.revision);
    watch.close();
  });

  test("is refused to who may not list changes, and from a revision that the log does not have", async () => {
    const viewer = await company.join(`${name}7`);
    const api = createApi(protocol, server.url, viewer.key);
    const denied = await failureOf(watchLog(api, { parentPath }).ended);
    const metadata = { permission: "iam.changes.list" };
    // Of its own org, it is told where it can ask.
    const asks = { access_requests: `${parentPath}/accessRequests` };
    expect(denied).toMatchObject({ code: "PermissionDenied", metadata: { ...metadata, ...asks } });
    const ofMissing = await failureOf(watchLog(api, { parentPath: "orgs/missing" }).ended);
    expect(ofMissing).toEqual({ ...denied, metadata, requestId: ofMissing.requestId });
    const byOwner = createApi(protocol, server.url, owner.key);
    const afterRevision = "00000000-0000-0001-9f3c-5b21c7e40d18";
    const expired = await failureOf(watchLog(byOwner, { parentPath, afterRevision }).ended);
    const [oldest] = await listAll();
    expect(expired).toMatchObject({
      code: "OutOfRange",
      reason: "REVISION_EXPIRED",
      metadata: { oldest_revision: oldest?.revision },
    });
    const malformed = await failureOf(watchLog(byOwner, { parentPath, afterRevision: "1" }).ended);
    expect(malformed).toMatchObject({ code: "InvalidArgument", fields: ["after_revision"] });
  });

  test("ends when its caller loses the permission, after what it was allowed to see", async () => {
    const watcher = await company.join(`${name}8`);
    const binding = await company.bind(parentPath, "owner", watcher);
    const watch = watchLog(createApi(protocol, server.url, watcher.key), { parentPath });
    await watch.until(isSynced);
    const { etag } = await createMember(`${name}9`);
    await owner.roleBindings.deleteRoleBinding({ path: binding });
    await createMember(`${name}10`);
    const end = await failureOf(watch.ended);
    expect(end).toMatchObject({ code: "PermissionDenied", metadata: { permission: "iam.changes.list" } });
    expect(watch.resumeRevision()).toBe(etag);
  });

  test("ends with its API key", async () => {
    const watcher = await company.joinAs("owner", `${name}11`);
    const watch = watchLog(createApi(protocol, server.url, watcher.key), { parentPath });
    await watch.until(isSynced);
    const { etag } = await createMember(`${name}12`);
    await owner.apiKeys.deleteApiKey({ path: `${watcher.path}/apiKeys/ci` });
    await createMember(`${name}13`);
    expect(await failureOf(watch.ended)).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
    expect(watch.resumeRevision()).toBe(etag);
  });
});
