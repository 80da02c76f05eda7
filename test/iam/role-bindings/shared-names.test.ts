// Tests bindings on a customer, which share their names across its orgs, while each is written under the lock of its
// subject's org.
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { sharedServer } from "../../support/shared-server.ts";

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
