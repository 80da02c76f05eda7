// Tests resources with states over REST and gRPC: suspend, activate, delete, undelete and purge (AIP-164, 165, 216). One
// table has them all, so a resource that behaves differently fails.
import { randomUUID } from "node:crypto";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import { keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { type Item, type Workplace, openWorkplace } from "../support/workplace.ts";
import {
  isRunByProvider,
  type StateVerb,
  type WrittenResource,
  maskOf,
  stateVerbsOf,
  writtenResources,
} from "../support/written-resources.ts";

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const cases = writtenResources
  .map((resource) => ({ name: resource.name, resource, verbs: stateVerbsOf(resource) }))
  // test/resources/undelete.test.ts is about what a provider restores.
  .filter(({ resource, verbs }) => verbs.length > 0 && !isRunByProvider(resource));

test("every resource with a state has the methods that change it", () => {
  for (const service of services) {
    for (const { name, output } of service.methods) {
      if (!name.startsWith("Delete") || !output.fields.some((field) => field.name === "delete_time")) continue;
      const methods = service.methods.map((method) => method.name);
      const { lifecycle } = registry.definitionOf(output.name as ResourceType);
      const verbs = ["Undelete", "Purge", ...(lifecycle?.states.length === 0 ? [] : ["Suspend", "Activate"])];
      expect(methods).toEqual(expect.arrayContaining(verbs.map((verb) => `${verb}${output.name}`)));
    }
  }
  const kept = registry.definitions
    .filter((each) => keepsDeleted(each) && !each.lifecycle?.byProvider)
    .map(({ type }) => type);
  expect(kept).toEqual(expect.arrayContaining(["Customer", "Org", "Project", "Member"]));
  expect(new Set(cases.map(({ resource }) => resource.type))).toEqual(new Set(kept));
});

type Answer = Item & { readonly deleteTime?: object; readonly purgeTime?: Parameters<typeof timestampDate>[0] };

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  const connect = (): Api => createApi(protocol, server.url, server.operatorKey);

  describe.each(ofEachShape(cases))("$name", ({ resource, verbs }) => {
    let place: Workplace;
    let dir: string;
    beforeAll(async () => {
      place = await openWorkplace(resource, connect());
      dir = place.pathOf("");
    });

    const make = async (): Promise<Item> => {
      const name = uniqueName("item");
      return place.create(name);
    };
    const byId = ({ id }: Item): string => `${dir}@${id}`;
    const stateOf = async (path: string): Promise<string | undefined> => stateName(resource, await place.get(path));
    const pathsListed = async (showDeleted: boolean): Promise<string[]> => {
      const { items } = await place.list({ showDeleted });
      return items.map(({ path }) => path);
    };

    const reserves = resource.definition.lifecycle?.deletedNames === "reserved";

    test("a deleted one can be read with Get, and is listed only with show_deleted", async () => {
      const item = await make();
      const deleted = (await place.delete(item.path)) as Answer;
      expect(deleted).toMatchObject({ id: item.id, name: item.name, path: byId(item) });
      expect(stateName(resource, deleted)).toBe("DELETED");
      expect(await stateOf(byId(item))).toBe("DELETED");
      expect(await failureOf(place.get(item.path))).toMatchObject({ code: "NotFound" });
      expect(await pathsListed(false)).not.toContain(byId(item));
      expect(await pathsListed(true)).toContain(byId(item));
      const [deleteTime, purgeTime] = [deleted.deleteTime, deleted.purgeTime].map((time) =>
        timestampDate(time as never).getTime(),
      );
      expect((purgeTime ?? 0) - (deleteTime ?? 0)).toBe(30 * 86_400_000);
    });

    test.runIf(reserves)("the name of a deleted one is reserved, also for a rename", async () => {
      const [item, other] = [await make(), await make()];
      await place.delete(item.path);
      for (const validateOnly of [true, false]) {
        const updateMask = { paths: ["name"] };
        for (const call of [
          () => place.create(item.name, { validateOnly }),
          () => place.update(other.path, { name: item.name }, { updateMask, validateOnly }),
        ]) {
          const failure = await failureOf(call());
          expect(failure).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS" });
          expect(failure.message).toContain(
            `is reserved by the deleted ${resource.definition.label.one} ${byId(item)}`,
          );
          expect(failure.metadata).toMatchObject({ name: item.name, resource: byId(item) });
        }
      }
      expect((await place.change("Undelete", byId(item))).path).toBe(item.path);
    });

    test.runIf(!reserves)("the name of a deleted one is free", async () => {
      const item = await make();
      await place.delete(item.path);
      expect((await place.create(item.name)).id).not.toBe(item.id);
    });

    test("an undeleted one is as before, with its name", async () => {
      const item = await make();
      await place.delete(item.path);
      const back = await place.change("Undelete", byId(item));
      expect(back).toMatchObject({ id: item.id, name: item.name, path: item.path });
      expect(stateName(resource, back)).toBe("ACTIVE");
      expect(back).not.toMatchObject({ deleteTime: expect.anything() });
      expect(back).not.toMatchObject({ purgeTime: expect.anything() });
      expect(back.etag).not.toBe(item.etag);
      expect(await place.get(item.path)).toEqual(back);
      expect(await pathsListed(false)).toContain(item.path);
    });

    test("an undelete or a purge of a deleted one by its name says how to find its id", async () => {
      const item = await make();
      await place.delete(item.path);
      for (const verb of ["Undelete", "Purge"] as const) {
        const failure = await failureOf(place.change(verb, item.path));
        expect(failure).toMatchObject({ code: "NotFound", reason: "RESOURCE_NOT_FOUND" });
        expect(failure.message).toContain(`there is no ${resource.definition.label.one} ${item.path}; a deleted`);
        expect(failure.message).toContain("is named by its id, @{id}, which a list with show_deleted=true returns");
        expect(failure.metadata).toMatchObject({ resource: item.path });
      }
      expect((await failureOf(place.change("Undelete", `${dir}@${randomUUID()}`))).message).not.toContain(
        "show_deleted",
      );
    });

    test.runIf(!reserves)(
      "an undelete is refused when another one has taken the name, and goes through once it is free",
      async () => {
        const item = await make();
        await place.delete(item.path);
        const other = await place.create(item.name);
        const failure = await failureOf(place.change("Undelete", byId(item)));
        expect(failure).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS" });
        expect(failure.message).toContain(JSON.stringify(item.name));
        expect(await stateOf(byId(item))).toBe("DELETED");
        await place.update(other.path, { name: uniqueName("renamed") }, { updateMask: { paths: ["name"] } });
        await place.change("Undelete", byId(item));
      },
    );

    test("a purged one cannot be undeleted", async () => {
      const item = await make();
      await place.delete(item.path);
      const before = Date.now();
      const due = (await place.change("Purge", byId(item))) as Answer;
      expect(stateName(resource, due)).toBe("DELETED");
      expect(timestampDate(due.purgeTime as never).getTime()).toBeLessThan(before + 60_000);
      const failure = await failureOf(place.change("Undelete", byId(item)));
      expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
      expect(failure.metadata).toMatchObject({ state: "DELETED" });
      expect(((await place.change("Purge", byId(item))) as Answer).purgeTime).toEqual(due.purgeTime);
    });

    test("every transition from a wrong state is FAILED_PRECONDITION and names the state", async () => {
      const allowed: Record<string, readonly StateVerb[]> = {
        ACTIVE: ["Suspend"],
        SUSPENDED: ["Activate"],
        DELETED: ["Undelete", "Purge"],
      };
      for (const [state, right] of Object.entries(allowed)) {
        if (state === "SUSPENDED" && !verbs.includes("Suspend")) continue;
        const item = await make();
        if (state === "SUSPENDED") await place.change("Suspend", item.path);
        if (state === "DELETED") await place.delete(item.path);
        for (const verb of verbs.filter((each) => !right.includes(each))) {
          const failure = await failureOf(place.change(verb, byId(item)));
          expect(failure, `${verb} of ${state}`).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
          expect(failure.message).toContain(` is ${state}`);
          expect(failure.metadata).toMatchObject({ state });
          expect(await stateOf(byId(item))).toBe(state);
        }
      }
    });

    test("a deleted one can neither be changed nor deleted again", async () => {
      const item = await make();
      await place.delete(item.path);
      for (const call of [
        () => place.update(byId(item), resource.change, { updateMask: maskOf(resource.change) }),
        () => place.delete(byId(item)),
      ]) {
        expect(await failureOf(call())).toMatchObject({ code: "FailedPrecondition", metadata: { state: "DELETED" } });
      }
    });

    describe.each(verbs)("%s", (verb) => {
      const prepare = async (): Promise<Item> => {
        const item = await make();
        if (verb === "Activate") return place.change("Suspend", item.path);
        return verb === "Suspend" ? item : place.delete(item.path);
      };

      test("writes a line to the change log", async () => {
        const item = await prepare();
        const after = await place.change(verb, byId(item));
        const [line] = await sql.query(
          "select method, before, after from changes where resource_id = $1 order by time desc limit 1",
          [item.id],
        );
        expect(line).toMatchObject({ method: expect.stringMatching(new RegExp(`/${verb}${resource.nouns.one}$`)) });
        expect(line).toMatchObject({ before: { id: item.id }, after: { id: item.id, changed_revision: after.etag } });
      });

      test("is refused with a stale etag, and accepted with the current one", async () => {
        const item = await prepare();
        expect(await failureOf(place.change(verb, byId(item), { etag: "0" }))).toMatchObject({ code: "Aborted" });
        await place.change(verb, byId(item), { etag: item.etag });
      });

      test("with validate_only, returns the same and changes nothing", async () => {
        const item = await prepare();
        const before = await sql.summarise();
        const checked = await place.change(verb, byId(item), { validateOnly: true });
        expect(await sql.summarise()).toEqual(before);
        const done = await place.change(verb, byId(item));
        expect(stateName(resource, checked)).toBe(stateName(resource, done));
      });

      test("with a request id, is carried out once, also in concurrent calls", async () => {
        const item = await prepare();
        const requestId = randomUUID();
        const repeat = () => place.change(verb, byId(item), { requestId });
        const answers = await Promise.all([repeat(), repeat(), repeat()]);
        expect(answers[1]).toEqual(answers[0]);
        expect(answers[2]).toEqual(answers[0]);
        const other = place.change(verb, byId(item), { requestId, etag: answers[0]?.etag ?? "" });
        expect(await failureOf(other)).toMatchObject({ code: "InvalidArgument", fields: ["request_id"] });
      });

      test("of a missing resource is NOT_FOUND", async () => {
        const path = `${dir}@${randomUUID().replace(/^(.{14})./, "$17")}`;
        expect(await failureOf(place.change(verb, path))).toMatchObject({ code: "NotFound" });
        expect(await failureOf(place.change(verb, `${dir}-`))).toMatchObject({ code: "InvalidArgument" });
      });
    });

    if (verbs.includes("Suspend")) {
      test("one that was suspended before it was deleted is suspended after an undelete", async () => {
        const item = await make();
        expect(stateName(resource, await place.change("Suspend", item.path))).toBe("SUSPENDED");
        await place.delete(item.path);
        expect(stateName(resource, await place.change("Undelete", byId(item)))).toBe("SUSPENDED");
        expect(stateName(resource, await place.change("Activate", item.path))).toBe("ACTIVE");
      });

      test("a suspended one can be read, changed and found by its state", async () => {
        const item = await make();
        await place.change("Suspend", item.path);
        await place.update(item.path, resource.change, { updateMask: maskOf(resource.change) });
        expect(await place.get(item.path)).toMatchObject(resource.change);
        expect(await pathsListed(false)).toContain(item.path);
      });
    }
  });

  describe("a suspended org", () => {
    test("denies access to its members until it is activated", async () => {
      const api = connect();
      const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const member = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
      const roleBinding = { name: "admins", rolePath: "/roles/admin", subjectPath: member.path };
      await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "ci" } });
      const call = () => createApi(protocol, server.url, secret).members.getMember({ path: member.path });
      expect(await call()).toEqual(member);
      await api.orgs.suspendOrg({ path: org.path });
      expect(await failureOf(call())).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
      await api.orgs.activateOrg({ path: org.path });
      expect(await call()).toEqual(member);
    });
  });

  describe("a member", () => {
    test("that is suspended is not authenticated; an undeleted one is, with its previous keys and groups", async () => {
      const api = connect();
      const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const { path, id } = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
      const group = await api.groups.createGroup({ parentPath: org.path, group: { name: "sre" } });
      await api.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath: path } });
      const isIn = async (): Promise<boolean> => {
        const call = createApi(protocol, server.url, secret).orgs.getOrg({ path: org.path });
        return (await failureOf(call)).code !== "Unauthenticated";
      };
      const inGroup = async () => (await api.groupMembers.listGroupMembers({ parentPath: group.path })).members.length;
      expect(await isIn()).toBe(true);
      await api.members.suspendMember({ path });
      expect(await isIn()).toBe(false);
      await api.members.activateMember({ path });
      expect(await isIn()).toBe(true);
      await api.members.deleteMember({ path });
      expect([await isIn(), await inGroup()]).toEqual([false, 0]);
      await api.members.undeleteMember({ path: `${org.path}/members/@${id}` });
      expect([await isIn(), await inGroup()]).toEqual([true, 1]);
    });

    const inAnHour = () => timestampFromDate(new Date(Date.now() + 3_600_000));

    test("that is created with an invitation is INVITED and not authenticated until it is activated", async () => {
      const api = connect();
      const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const invitationExpireTime = inAnHour();
      const member = { name: "alice", invitationExpireTime };
      const invited = await api.members.createMember({ parentPath: org.path, member });
      expect(invited).toMatchObject({ state: 1, invitationExpireTime });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: invited.path, apiKey: { name: "ci" } });
      const call = () => createApi(protocol, server.url, secret).orgs.getOrg({ path: org.path });
      expect(await failureOf(call())).toMatchObject({ code: "Unauthenticated" });
      const suspended = await failureOf(api.members.suspendMember({ path: invited.path }));
      expect(suspended).toMatchObject({ code: "FailedPrecondition", metadata: { state: "INVITED" } });
      const active = await api.members.activateMember({ path: invited.path });
      expect(active.state).toBe(2);
      expect(active.invitationExpireTime).toBeUndefined();
      expect(await failureOf(call())).not.toMatchObject({ code: "Unauthenticated" });
    });

    test("whose invitation has expired cannot be activated until it is invited again", async () => {
      const api = connect();
      const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const member = { name: "alice", invitationExpireTime: inAnHour() };
      const { path, id } = await api.members.createMember({ parentPath: org.path, member });
      await sql.query("update members set invitation_expire_time = now() - interval '1 s' where id = $1", [id]);
      const failure = await failureOf(api.members.activateMember({ path }));
      expect(failure).toMatchObject({ code: "FailedPrecondition", metadata: { state: "INVITED" } });
      expect(failure.message).toContain("expired");
      // A change of other fields keeps the invitation.
      await api.members.updateMember({ path, member: { displayName: "Alice" } });
      await api.members.updateMember({
        path,
        member: { name: "alice", displayName: "A" },
        updateMask: { paths: ["*"] },
      });
      expect((await failureOf(api.members.activateMember({ path }))).message).toContain("expired");
      await api.members.updateMember({ path, member: { invitationExpireTime: inAnHour() } });
      expect((await api.members.activateMember({ path })).state).toBe(2);
    });

    test("cannot get an invitation in the past, nor one after it has accepted", async () => {
      const api = connect();
      const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const past = timestampFromDate(new Date(0));
      const fields = ["member.invitation_expire_time"];
      const create = api.members.createMember({ parentPath, member: { name: "alice", invitationExpireTime: past } });
      expect(await failureOf(create)).toMatchObject({ code: "InvalidArgument", fields });
      const { path } = await api.members.createMember({ parentPath, member: { name: "alice" } });
      const update = api.members.updateMember({ path, member: { invitationExpireTime: inAnHour() } });
      expect(await failureOf(update)).toMatchObject({ code: "InvalidArgument", fields });
    });
  });

  describe("a customer", () => {
    test("is deleted with its orgs, and undeleted with these, but not with those deleted before", async () => {
      const api = connect();
      const first = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const { customerPath } = first;
      const inCustomer = (name: string) => api.orgs.createOrg({ org: { name: uniqueName(name), customerPath } });
      const [second, gone] = [await inCustomer("second"), await inCustomer("gone")];
      await api.orgs.suspendOrg({ path: second.path });
      await api.orgs.deleteOrg({ path: gone.path });
      const deleted = await api.customers.deleteCustomer({ path: customerPath });
      const orgs = [first, second, gone];
      const states = () =>
        Promise.all(orgs.map(async ({ id }) => (await api.orgs.getOrg({ path: `orgs/@${id}` })).state));
      expect(await states()).toEqual([3, 3, 3]);
      const alone = await failureOf(api.orgs.undeleteOrg({ path: `orgs/@${first.id}` }));
      expect(alone).toMatchObject({ code: "FailedPrecondition", metadata: { resource: deleted.path } });
      await api.customers.undeleteCustomer({ path: deleted.path });
      expect(await states()).toEqual([1, 2, 3]);
      await api.orgs.undeleteOrg({ path: `orgs/@${gone.id}` });
      expect(await states()).toEqual([1, 2, 1]);
    });

    test("that is deleted reserves the names of the orgs that were deleted with it", async () => {
      const api = connect();
      const first = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const { customerPath } = first;
      const second = await api.orgs.createOrg({ org: { name: uniqueName("second"), customerPath } });
      const { path } = await api.customers.deleteCustomer({ path: customerPath });
      const failure = await failureOf(api.orgs.createOrg({ org: { name: second.name } }));
      expect(failure).toMatchObject({ code: "AlreadyExists", metadata: { resource: `/orgs/@${second.id}` } });
      await api.customers.undeleteCustomer({ path });
      expect((await api.orgs.getOrg({ path: second.path })).id).toBe(second.id);
    });

    test("cannot be undeleted when all its orgs were purged", async () => {
      const api = connect();
      const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const { path } = await api.customers.deleteCustomer({ path: org.customerPath });
      await api.orgs.purgeOrg({ path: `orgs/@${org.id}` });
      const failure = await failureOf(api.customers.undeleteCustomer({ path }));
      expect(failure).toMatchObject({ code: "FailedPrecondition", metadata: { state: "DELETED" } });
    });
  });

  test("what this installation needs can neither be suspended nor deleted", async () => {
    const api = connect();
    const path = "orgs/system";
    for (const call of [
      () => api.orgs.suspendOrg({ path }),
      () => api.orgs.deleteOrg({ path }),
      () => api.members.suspendMember({ path: "orgs/system/members/operator" }),
      () => api.members.deleteMember({ path: "orgs/system/members/operator" }),
      () => api.customers.deleteCustomer({ path: "customers/system" }),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: "FailedPrecondition", reason: "OPERATOR_PROTECTED" });
    }
  });
});

/** Returns the name of an item's state; each resource has its own enum. */
function stateName({ definition }: WrittenResource, { state }: Item): string | undefined {
  const field = definition.schema.fields.find(({ name }) => name === "state");
  return field?.fieldKind === "enum" ? field.enum.value[state ?? 0]?.name : undefined;
}
