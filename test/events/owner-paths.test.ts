// Tests what a copy that is made of a stream loses with something that is removed, and what stays although it names that.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { type CopyOfOrg, applyTo, comparable } from "../support/copy-of-org.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type Watch, isSynced, watchLog } from "../support/watch-log.ts";

let server: TestServer;
let company: Company;
let owner: Caller;
let parentPath: string;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100 });
  company = await openCompany("gRPC", server);
  owner = await company.joinAs("owner");
  parentPath = company.org.path;
});
afterAll(() => server.close());

async function openCopy(): Promise<{ readonly watch: Watch; readonly copy: () => CopyOfOrg }> {
  const watch = watchLog(owner, { parentPath, initialState: true });
  await watch.until(isSynced);
  const copy = (): CopyOfOrg => {
    const made: CopyOfOrg = new Map();
    for (const message of watch.received) applyTo(made, message);
    return made;
  };
  return { watch, copy };
}

/** Waits until a stream has the removal of a resource. */
async function untilRemoved(watch: Watch, id: string): Promise<void> {
  await watch.until(
    ({ event, keyPath }) => keyPath.endsWith(`@${id}`) && event.case === "change" && event.value.after === undefined,
  );
}

test("a copy loses what goes with a removed resource, and keeps what only names it", async () => {
  const maker = await company.joinAs("owner", "maker");
  const member = await owner.members.getMember({ path: maker.path });
  const group = await owner.groups.createGroup({ parentPath, group: { name: "makers" } });
  await owner.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath: maker.path } });
  const role = await owner.roles.createRole({ parentPath, role: { name: "maker", permissions: ["iam.groups.get"] } });
  const toGroup = { name: "to-group", rolePath: role.path, subjectPath: group.path };
  const binding = await owner.roleBindings.createRoleBinding({ parentPath, roleBinding: toGroup });
  const webhook = await maker.webhooks.createWebhook({
    parentPath,
    webhook: { name: "made", url: "https://hooks.invalid/" },
  });
  // One that delivers is disabled some time after its member has gone.
  await maker.webhooks.pauseWebhook({ path: webhook.path });
  const robot = await company.join("robot");
  const { apiKeys } = owner;
  const old = await apiKeys.createApiKey({ parentPath: robot.path, apiKey: { name: "old" } });
  const { watch, copy } = await openCopy();
  const successor = await apiKeys.rotateApiKey({ path: old.path, name: "new", overlap: { seconds: 1n } });

  const { path } = await owner.members.deleteMember({ path: maker.path });
  await owner.members.purgeMember({ path });
  await owner.roles.deleteRole({ path: role.path });
  for (const { id } of [member, role, old]) await untilRemoved(watch, id);
  const { etag } = await owner.groups.createGroup({ parentPath, group: { name: "last" } });
  await watch.until(({ resumeRevision }) => resumeRevision === etag);
  watch.close();

  const now = await openCopy();
  now.watch.close();
  expect(comparable(copy())).toEqual(comparable(now.copy()));
  const keys = [...copy().keys()];
  const isThere = ({ id }: { readonly id: string }): boolean => keys.some((key) => key.endsWith(`@${id}`));
  expect([webhook, successor].map(isThere)).toEqual([true, true]);
  expect([member, role, old, binding].map(isThere)).toEqual([false, false, false, false]);
});
