// An org is led back at a terminal. Read transcripts/rollback.txt.
import { expect, test } from "vitest";
import { openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { openTerminal, transcribe } from "./terminal.ts";

test("somebody leads an org back", async () => {
  const server = await sharedServer();
  const { org, joinAs, api } = await openCompany("Connect", server);
  const { key, access, path: olive } = await joinAs("owner", "olive");
  const parentPath = org.path;
  const { path: dora } = await api.members.createMember({ parentPath, member: { name: "dora" } });
  const { path: sre } = await api.groups.createGroup({ parentPath, group: { name: "sre" } });
  await api.groupMembers.createGroupMember({ parentPath: sre, groupMember: { memberPath: dora } });
  await api.projects.createProject({ parentPath, project: { name: "web" } });
  const roleBinding = { name: "sre-views", rolePath: "/roles/viewer", subjectPath: sre };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  const check = { subjectPath: olive, permission: "iam.orgs.get", resourcePath: parentPath };
  const { revision } = await access.checkAccess(check);
  const env = { TENANTRY_URL: server.url, TENANTRY_API_KEY: key };
  const terminal = await openTerminal({ env });
  const names = {
    [revision]: "00000000-0000-0732-9f3c-5b21c7e40d18",
    [org.name]: "acme",
    [server.url]: "http://localhost:8080",
  };
  const show = (...lines: Parameters<typeof transcribe>[1]) => transcribe(terminal, lines, names);
  const to = `rollback ${org.name} --to ${revision}`;

  const parts = [await show("rollback --help", `rollback ${org.name}`, `rollback ${org.name} --to soon`, to)];
  await api.groups.deleteGroup({ path: sre });
  await api.members.deleteMember({ path: dora });
  await api.projects.updateProject({ path: `${parentPath}/projects/web`, project: { name: "shop" } });
  const { path: oscar } = await joinAs("owner", "oscar");
  await api.members.createMember({ parentPath, member: { name: "eve" } });
  const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath });
  const hidden = roleBindings.find(({ subjectPath }) => subjectPath === oscar)?.name ?? "";
  names[hidden] = "binding-1";
  parts.push(await show(`${to} --dry-run`, [to, { answers: ["n"] }], [to, { answers: ["y"] }], to));
  const { members } = await api.members.listMembers({ parentPath });
  await api.members.deleteMember({ path: dora });
  const id = members.find(({ name }) => name === "dora")?.id ?? "";
  await api.members.purgeMember({ path: `${parentPath}/members/@${id}` });
  await api.groups.createGroup({ parentPath, group: { name: "stray" } });
  parts.push(await show(to, [`${to} --leave-out-impossible`, { answers: ["y"] }]));
  await expect(parts.join("")).toMatchFileSnapshot("transcripts/rollback.txt");

  await api.groups.createGroup({ parentPath, group: { name: "stray" } });
  const apart = { isTerminal: false };
  const unasked = await terminal.run(`${to} --leave-out-impossible`, apart);
  expect([unasked.code, unasked.stderr]).toEqual([64, expect.stringContaining("--yes")]);
  const done = await terminal.run(`${to} --leave-out-impossible --yes`, apart);
  expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { change_count: 1, obstacles: [] }]);
});
