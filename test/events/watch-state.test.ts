// Tests streams that begin with the state of the resources: a copy that is made of one is right, whatever is written meanwhile.
import { toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type CopyOfOrg, applyTo, comparable } from "../support/copy-of-org.ts";
import { failureOf } from "../support/failure.ts";
import { writeAtRandom } from "../support/random-history.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { protocols } from "../support/transports.ts";
import { type Watch, changeOf, isSynced, watchLog } from "../support/watch-log.ts";

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
  // The state has several pages.
  for (let batch = 0; batch < 2; batch++) {
    const requests = Array.from({ length: 90 }, (_, index) => ({ member: { name: `fill${batch}n${index}` } }));
    await owner.members.batchCreateMembers({ parentPath, requests });
  }
});

const initial = (): { readonly parentPath: string; readonly initialState: true } => ({
  parentPath,
  initialState: true,
});

/** Returns the copy that was made of a stream up to now. */
function copyOf({ received }: Watch): CopyOfOrg {
  const copy: CopyOfOrg = new Map();
  for (const message of received) applyTo(copy, message);
  return copy;
}

/** Returns a copy that is made of the state alone. */
async function stateNow(): Promise<CopyOfOrg> {
  const watch = watchLog(owner, initial());
  await watch.until(isSynced);
  watch.close();
  return copyOf(watch);
}

/** Checks that a stream sent each change once and in order, and each resource of the state once, before it was synced. */
function expectEachOnce({ received }: Watch): void {
  const changes = received.flatMap(({ event }) =>
    event.case === "change" ? [`${event.value.revision} ${String(event.value.position).padStart(6, "0")}`] : [],
  );
  expect(changes).toEqual([...new Set(changes)].toSorted());
  const states = received.flatMap(({ event, keyPath }) => (event.case === "state" ? [keyPath] : []));
  expect(new Set(states).size).toBe(states.length);
  expect(received.findLastIndex(({ event }) => event.case === "state")).toBeLessThan(received.findIndex(isSynced));
}

describe("a stream that begins with the state", () => {
  test.each(protocols)("over %s, makes a right copy while the org is written at random", async (protocol) => {
    const stop = writeAtRandom(createApi("gRPC", second.url, owner.key), parentPath);
    const watches: Watch[] = [];
    for (let count = 0; count < 2; count++) {
      const watch = watchLog(createApi(protocol, server.url, owner.key), initial());
      await watch.until(isSynced);
      watches.push(watch);
    }
    await stop();
    const last = await owner.groups.createGroup({
      parentPath,
      group: { name: `last-${protocol.toLowerCase().replace(/\W/g, "")}` },
    });
    for (const watch of watches) await watch.until(({ resumeRevision }) => resumeRevision === last.etag);
    const now = comparable(await stateNow());
    for (const watch of watches) {
      watch.close();
      expectEachOnce(watch);
      expect(comparable(copyOf(watch))).toEqual(now);
    }
  });

  test("resumes after each of its messages, in the middle of the state, with changes in between", async () => {
    const whole = watchLog(owner, initial());
    await whole.until(isSynced);
    whole.close();
    const step = Math.ceil(whole.received.length / 4);
    for (let index = 0; index < whole.received.length; index += step) {
      const copy: CopyOfOrg = new Map();
      for (const message of whole.received.slice(0, index + 1)) applyTo(copy, message);
      await owner.members.createMember({ parentPath, member: { name: `resumed${index}` } });
      const afterRevision = whole.received[index]?.resumeRevision ?? "";
      const rest = watchLog(owner, { parentPath, afterRevision });
      await rest.until(isSynced);
      rest.close();
      for (const message of rest.received) applyTo(copy, message);
      expect(comparable(copy)).toEqual(comparable(await stateNow()));
    }
  });

  test("shows resources as their changes do, and as a Get with ids in the paths of others", async () => {
    const member = await owner.members.createMember({ parentPath, member: { name: "shown", labels: { a: "b" } } });
    const { changes } = await owner.changes.listChanges({ parentPath, filter: `resource_id = "${member.id}"` });
    const [orgId, copy] = [company.org.id, await stateNow()];
    const shown = copy.get(`/orgs/@${orgId}/members/@${member.id}`)?.resource;
    expect(shown).toEqual(changes[0]?.after);
    expect(shown).toEqual(toJson(MemberSchema, member, { useProtoFieldName: true }));
    expect(copy.get(`/orgs/@${orgId}`)?.resource).toMatchObject({ id: orgId, name: company.org.name });
  });

  test("has the memberships of deleted members, which no entry brings back when these are undeleted", async () => {
    const group = await owner.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
    const { path: memberPath } = await owner.members.createMember({ parentPath, member: { name: uniqueName("back") } });
    await owner.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath } });
    const { path } = await owner.members.deleteMember({ path: memberPath });
    const watch = watchLog(owner, initial());
    await watch.until(isSynced);
    const { etag } = await owner.members.undeleteMember({ path });
    await watch.until(({ resumeRevision }) => resumeRevision === etag);
    watch.close();
    const copy = comparable(copyOf(watch));
    expect(copy).toEqual(comparable(await stateNow()));
    expect(Object.keys(copy).filter((key) => key.includes(`/groups/@${group.id}/members/`))).toHaveLength(1);
  });

  test("has what its caller may get, and nothing else of the org", async () => {
    const auditor = await company.join("auditor");
    const permissions = ["iam.changes.list", "iam.groups.get"];
    const role = await owner.roles.createRole({ parentPath, role: { name: "auditor", permissions } });
    await company.bind(parentPath, role.path, auditor);
    const watch = watchLog(auditor, initial());
    await watch.until(isSynced);
    watch.close();
    const types = watch.received.flatMap(({ event }) => (event.case === "state" ? [event.value.resourceType] : []));
    expect(new Set(types)).toEqual(new Set(["Group"]));
    const basic = watchLog(auditor, { ...initial(), view: Change_View.BASIC });
    await basic.until(isSynced);
    basic.close();
    const states = basic.received.filter(({ event }) => event.case === "state");
    expect(states.map(({ keyPath }) => keyPath)).toEqual([...copyOf(watch).keys()]);
    expect(states.every(({ event }) => event.case === "state" && event.value.resource === undefined)).toBe(true);
  });

  test("ends without the rest when its caller loses the right in the middle", async () => {
    const watcher = await company.joinAs("owner", "leaver");
    const watch = watchLog(createApi("gRPC", server.url, watcher.key), initial());
    await watch.until(({ event }) => event.case === "state");
    const { etag } = await owner.members.suspendMember({ path: watcher.path });
    await owner.members.createMember({ parentPath, member: { name: "after-leaver" } });
    // It may have been authenticated just before, and is decided about after.
    expect(["PermissionDenied", "Unauthenticated"]).toContain((await failureOf(watch.ended)).code);
    expect(watch.received.every(({ resumeRevision }) => resumeRevision < etag)).toBe(true);
  });

  test("is refused from a place that no stream has given", async () => {
    const resumeRevision = (await firstOf())[0]?.resumeRevision ?? "";
    for (const place of ["Member.1", `Member.${"0".repeat(36)}`, `Member.${company.org.id}.${company.org.id}`]) {
      const afterRevision = `${resumeRevision.split(".")[0]}.${place}`;
      const failure = await failureOf(watchLog(owner, { parentPath, afterRevision }).ended);
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["after_revision"] });
    }
  });

  test("is to begin again if it ended in a type that the state does not have, as one of another version may", async () => {
    const revision = (await firstOf())[0]?.resumeRevision.split(".")[0] ?? "";
    const id = company.org.id;
    for (const place of ["Nothing", `Nothing.${id}`, `Customer.${id}`]) {
      const failure = await failureOf(watchLog(owner, { parentPath, afterRevision: `${revision}.${place}` }).ended);
      expect(failure).toMatchObject({
        code: "OutOfRange",
        reason: "REVISION_EXPIRED",
        message: expect.stringContaining("begin with initial_state"),
        metadata: { oldest_revision: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      });
    }
  });

  test("has the quotas with limits, as their changes show them", async () => {
    const { api } = company;
    const kind = uniqueName("kind");
    await api.quantityKinds.createQuantityKind({ quantityKind: { name: kind, unit: "cores" } });
    const quotas = createClient(QuotasService, api.transport);
    const { path: project } = await owner.projects.createProject({ parentPath, project: { name: "limited" } });
    const watch = watchLog(owner, initial());
    await watch.until(isSynced);
    const paths: string[] = [];
    for (const [index, path] of [parentPath, project].entries()) {
      const updated = await quotas.updateQuota({ parentPath: path, quota: { limits: { [kind]: index + 1.5 } } });
      paths.push(updated.path);
      await watch.until((message) => changeOf(message)?.resourcePath === updated.path);
    }
    watch.close();
    const [changed, now] = [copyOf(watch), await stateNow()];
    const keys = [...now.keys()].filter((key) => key.endsWith("/quota"));
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(changed.get(key)).toEqual(now.get(key));
    expect(new Set(keys.map((key) => now.get(key)?.resource["path"]))).toEqual(new Set(paths));
  });

  test("of the org system has the catalog, and no customers, whose changes are in logs of their own", async () => {
    const operator = createApi("gRPC", server.url, server.operatorKey);
    const name = uniqueName("kind");
    await operator.quantityKinds.createQuantityKind({ quantityKind: { name, unit: "cores" } });
    const watch = watchLog(operator, { parentPath: "orgs/system", initialState: true });
    await watch.until(isSynced);
    watch.close();
    const states = watch.received.flatMap(({ event }) => (event.case === "state" ? [event.value] : []));
    const paths = states.map(({ resourcePath }) => resourcePath);
    expect(paths).toContain("/orgs/system");
    expect(paths).toContain(`/quantityKinds/${name}`);
    expect(paths).not.toContain(parentPath);
    expect(states.filter(({ resourceType }) => resourceType === "Customer")).toEqual([]);
  });
});

async function firstOf() {
  const watch = watchLog(owner, initial());
  await watch.until(() => true);
  watch.close();
  return watch.received;
}
