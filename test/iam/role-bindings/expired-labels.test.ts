import { Code, ConnectError } from "@connectrpc/connect";
import pg from "pg";
import { expect, test } from "vitest";
import { createApi, uniqueName } from "../../support/api.ts";
import { startTestServer } from "../../support/test-server.ts";
import { expectNoDrift } from "../../support/expect-no-drift.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// A binding that takes the name locks another org. So the removal of the expired binding waits for the change of its labels,
// and must then remove the new ones.
test("an expired binding of another org is removed with all its labels, even if they are being changed", async () => {
  const server = await startTestServer();
  const api = createApi("Connect", server.url, server.operatorKey);
  const blocker = new pg.Client({ connectionString: server.databaseUrl });
  await blocker.connect();
  try {
    const [one, other] = [uniqueName("one"), uniqueName("other")];
    await api.orgs.createOrg({ org: { name: one } });
    await api.orgs.createOrg({ org: { name: other, customerPath: `/customers/${one}` } });
    for (const org of [one, other]) {
      await api.members.createMember({ parentPath: `/orgs/${org}`, member: { name: "ann" } });
    }
    const parentPath = `/customers/${one}`;
    const binding = { rolePath: "/roles/viewer", labels: { env: "old" } };

    /** Returns false if the binding was removed before its labels were changed. */
    const replaceWhileRelabelled = async (name: string, lifeMs: number): Promise<boolean> => {
      const expires = Date.now() + lifeMs;
      await api.roleBindings.createRoleBinding({
        parentPath,
        roleBinding: {
          ...binding,
          name,
          subjectPath: `/orgs/${other}/members/ann`,
          expireTime: timestampFromDate(new Date(expires)),
        },
      });
      // Delays the change of labels just before its commit.
      await blocker.query("begin");
      await blocker.query("lock table changes in exclusive mode");
      const relabelled = api.roleBindings.updateRoleBinding({
        path: `${parentPath}/roleBindings/${name}`,
        roleBinding: { labels: { env: "new" } },
        updateMask: { paths: ["labels"] },
      });
      const outcome = relabelled.then(
        () => undefined,
        (error: unknown) => error,
      );
      await pause(Math.max(0, expires - Date.now()) + 300);
      const created = api.roleBindings.createRoleBinding({
        parentPath,
        roleBinding: { ...binding, name, labels: {}, subjectPath: `/orgs/${one}/members/ann` },
      });
      await pause(500);
      await blocker.query("commit");
      await created;
      const error = await outcome;
      if (error !== undefined && ConnectError.from(error).code !== Code.NotFound) throw error;
      return error === undefined;
    };

    // On a busy machine, the binding may expire before its change begins.
    for (let lifeMs = 4_000; !(await replaceWhileRelabelled(uniqueName("shared"), lifeMs));) lifeMs *= 3;

    await expect(expectNoDrift(server.databaseUrl)).resolves.toBeUndefined();
  } finally {
    await blocker.end();
    await server.close().catch(() => {});
  }
});
