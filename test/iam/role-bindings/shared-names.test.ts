// Tests bindings on a customer, which share their names across its orgs, while each is written under the lock of its
// subject's org.
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { openSqlClient } from "../../support/sql.ts";

test.each(["deleted", "updated"])(
  "a binding of another org that takes over the name of one that is being %s stays as it is",
  async (rule) => {
    const server = await sharedServer();
    const { orgs, members, roleBindings } = createApi("gRPC", server.url, server.operatorKey);
    const acme = await orgs.createOrg({ org: { name: uniqueName("acme") } });
    const other = await orgs.createOrg({ org: { name: uniqueName("other"), customerPath: acme.customerPath } });
    const alice = await members.createMember({ parentPath: acme.path, member: { name: "alice" } });
    const bob = await members.createMember({ parentPath: other.path, member: { name: "bob" } });
    const roleBinding = { name: "shared", rolePath: "/roles/viewer", subjectPath: alice.path };
    const { path } = await roleBindings.createRoleBinding({ parentPath: acme.customerPath, roleBinding });

    const [locker, watcher] = [1, 2].map(() => new pg.Client({ connectionString: server.databaseUrl }));
    if (locker === undefined || watcher === undefined) throw new Error("no clients");
    await Promise.all([locker.connect(), watcher.connect()]);
    onTestFinished(() => Promise.all([locker.end(), watcher.end()]).then(() => {}));
    await locker.query("begin");
    await locker.query("select from orgs where id = $1 for update", [acme.id]);
    const call =
      rule === "deleted"
        ? roleBindings.deleteRoleBinding({ path })
        : roleBindings.updateRoleBinding({ path, roleBinding: { displayName: "Mine" } });
    const failure = failureOf(call);
    const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await expect.poll(async () => (await watcher.query(waiting)).rowCount).toBe(1);
    // Acts as if this one had been deleted, and one with the same name created for a member of the other org.
    await locker.query("update role_bindings set org_id = $1, member_id = $2 where org_id = $3 and name = 'shared'", [
      other.id,
      bob.id,
      acme.id,
    ]);
    await locker.query(
      "update resource_counts set org_id = $1, parent_id = $1 where org_id = $2 and resource_type = $3",
      [other.id, acme.id, "RoleBinding"],
    );
    await locker.query("commit");

    expect(await failure).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    const found = await roleBindings.getRoleBinding({ path });
    expect(found).toMatchObject({ subjectPath: bob.path, displayName: "shared" });
  },
);

test("an expired binding of another org that is replaced is removed in the log of that org, with the time of its end", async () => {
  const server = await sharedServer();
  const { orgs, members, roleBindings, changes } = createApi("gRPC", server.url, server.operatorKey);
  const acme = await orgs.createOrg({ org: { name: uniqueName("acme") } });
  const other = await orgs.createOrg({ org: { name: uniqueName("other"), customerPath: acme.customerPath } });
  const alice = await members.createMember({ parentPath: acme.path, member: { name: "alice" } });
  const bob = await members.createMember({ parentPath: other.path, member: { name: "bob" } });
  const parentPath = acme.customerPath;
  const requestFor = (subjectPath: string) => (name: string) => ({
    parentPath,
    roleBinding: { name, rolePath: "/roles/viewer", subjectPath, labels: { of: subjectPath.slice(-3) } },
  });
  const [ofAlice, ofBob] = [requestFor(alice.path), requestFor(bob.path)];
  const names = ["one", "two", "three"] as const;
  await roleBindings.batchCreateRoleBindings({ parentPath, requests: names.map(ofAlice) });
  const sql = await openSqlClient(server.databaseUrl);
  onTestFinished(() => sql.close());
  // The server leaves to the next day what has ended.
  await sql.query(
    "update role_bindings set expire_time = now() - interval '1 minute' where org_id = $1 and scope_type = 'CUSTOMER'",
    [acme.id],
  );
  const ended = async () => {
    const filter = 'resource_type = "RoleBinding"';
    const { changes: found } = await changes.listChanges({ parentPath: acme.path, filter });
    return found.filter(({ type }) => type === Change_Type.EXPIRED);
  };

  await roleBindings.createRoleBinding({ ...ofBob("one"), validateOnly: true });
  expect(await ended()).toEqual([]);
  await roleBindings.createRoleBinding(ofBob("one"));
  await roleBindings.batchCreateRoleBindings({ parentPath, requests: ["two", "three"].map(ofBob) });
  const listed = await roleBindings.listRoleBindings({ parentPath, filter: "labels.of = bob" });
  expect(listed.roleBindings.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  const found = (await ended()).toReversed();
  expect(found.map(({ resourcePath }) => resourcePath)).toEqual(
    names.map((name) => `${parentPath}/roleBindings/${name}`),
  );
  for (const { method, endTime, time, before } of found) {
    expect([method, before?.["subject_path"]]).toEqual(["tenantry/purge", `/orgs/@${acme.id}/members/@${alice.id}`]);
    expect(Number(endTime?.seconds)).toBeLessThan(Number(time?.seconds));
  }
  expect(new Set(found.map(({ revision }) => revision)).size).toBe(3);
});

test("a binding of another org that has not expired, or is there again when its org is locked, keeps its name", async () => {
  const server = await sharedServer();
  const { orgs, members, roleBindings } = createApi("gRPC", server.url, server.operatorKey);
  const acme = await orgs.createOrg({ org: { name: uniqueName("acme") } });
  const other = await orgs.createOrg({ org: { name: uniqueName("other"), customerPath: acme.customerPath } });
  const alice = await members.createMember({ parentPath: acme.path, member: { name: "alice" } });
  const bob = await members.createMember({ parentPath: other.path, member: { name: "bob" } });
  const parentPath = acme.customerPath;
  const requestFor = (subjectPath: string) => ({
    parentPath,
    roleBinding: { name: "kept", rolePath: "/roles/viewer", subjectPath },
  });
  const { path } = await roleBindings.createRoleBinding(requestFor(alice.path));
  const exists = { reason: "RESOURCE_EXISTS" };
  expect(await failureOf(roleBindings.createRoleBinding(requestFor(bob.path)))).toMatchObject(exists);

  const [locker, watcher] = await Promise.all([1, 2].map(() => openSqlClient(server.databaseUrl)));
  const expire = `update role_bindings set expire_time = now() - interval '1 minute' where org_id = '${acme.id}' and name = 'kept'`;
  await watcher?.query(expire);
  await locker?.query("begin");
  await locker?.query("select from orgs where id = $1 for update", [acme.id]);
  const failure = failureOf(roleBindings.createRoleBinding(requestFor(bob.path)));
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await expect.poll(async () => (await watcher?.query(waiting))?.length).toBe(1);
  await locker?.query("update role_bindings set expire_time = null where org_id = $1 and name = 'kept'", [acme.id]);
  await locker?.query("commit");
  expect(await failure).toMatchObject(exists);
  expect(await roleBindings.getRoleBinding({ path })).toMatchObject({ subjectPath: alice.path });
  await Promise.all([locker?.close(), watcher?.close()]);
});
