import pg from "pg";
import { expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import { startTestServer } from "../support/test-server.ts";

const tables = ["customers", "orgs", "projects", "members", "api_keys", "groups", "group_members", "subgroups"];

test("a server goes on while a newer one adds columns", async () => {
  const server = await startTestServer();
  const api = createApi("Connect", server.url, server.operatorKey);
  const { path: parentPath, customerPath } = await api.orgs.createOrg({ org: { name: "acme" } });
  const project = await api.projects.createProject({ parentPath, project: { name: "p" } });
  const member = await api.members.createMember({ parentPath, member: { name: "m" } });
  const outer = await api.groups.createGroup({ parentPath, group: { name: "outer" } });
  const inner = await api.groups.createGroup({ parentPath, group: { name: "inner" } });
  const apiKey = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "k" } });
  const membership = await api.groupMembers.createGroupMember({
    parentPath: outer.path,
    groupMember: { memberPath: member.path },
  });
  const subgroup = await api.groupMembers.createSubgroup({
    parentPath: outer.path,
    subgroup: { groupPath: inner.path },
  });
  const readAll = () =>
    Promise.all([
      api.customers.getCustomer({ path: customerPath }),
      api.orgs.getOrg({ path: parentPath }),
      api.projects.getProject({ path: project.path }),
      api.members.getMember({ path: member.path }),
      api.groups.getGroup({ path: outer.path }),
      api.apiKeys.getApiKey({ path: apiKey.path }),
      api.groupMembers.getGroupMember({ path: membership.path }),
      api.groupMembers.getSubgroup({ path: subgroup.path }),
      api.groupMembers.listGroupMembers({ parentPath: "orgs/-/groups/-" }),
    ]);
  // On every connection, so that each has prepared its statements.
  const before = (await Promise.all(Array.from({ length: 20 }, readAll)))[0];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  for (const table of tables) await client.query(`alter table ${table} add column later text not null default 'x'`);
  await client.end();
  for (const after of await Promise.all(Array.from({ length: 20 }, readAll))) expect(after).toEqual(before);
  await server.close();
});
