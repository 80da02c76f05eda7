import pg from "pg";
import { expect, test } from "vitest";
import { createApi, uniqueName } from "../../support/api.ts";
import { startTestServer } from "../../support/test-server.ts";
import { expectNoDrift } from "../../support/expect-no-drift.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// The binding's org is not locked by the one that takes its name: the removal waits for the relabelling, and must look for the
// labels that it left.
test("an expired binding of another org that is being relabelled takes all its labels with it", async () => {
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
    const binding = { name: "shared", rolePath: "/roles/viewer", labels: { env: "old" } };
    const expires = Date.now() + 2000;
    await api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: {
        ...binding,
        subjectPath: `/orgs/${other}/members/ann`,
        expireTime: timestampFromDate(new Date(expires)),
      },
    });

    // Holds up the relabelling just before it commits.
    await blocker.query("begin");
    await blocker.query("lock table changes in exclusive mode");
    const relabelled = api.roleBindings.updateRoleBinding({
      path: `${parentPath}/roleBindings/shared`,
      roleBinding: { labels: { env: "new" } },
      updateMask: { paths: ["labels"] },
    });
    await pause(Math.max(0, expires - Date.now()) + 300);
    const created = api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { ...binding, labels: {}, subjectPath: `/orgs/${one}/members/ann` },
    });
    await pause(500);
    await blocker.query("commit");
    await Promise.all([relabelled, created]);

    await expect(expectNoDrift(server.databaseUrl)).resolves.toBeUndefined();
  } finally {
    await blocker.end();
    await server.close().catch(() => {});
  }
}, 30_000);
