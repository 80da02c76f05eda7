// Pages over all groups of an org while the statistics of the planner are older than the groups: they are those of many small orgs.
import { expect, onTestFinished, test } from "vitest";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import { required } from "../../src/errors/required.ts";
import { cursorOf, withUniqueKey } from "../../src/filters/keyset.ts";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { registry } from "../../src/resource-registry.ts";
import type { ResourceRow, ResourceTable, TypedDefinition } from "../../src/standard-methods/definition/definition.ts";
import { listFieldsOf } from "../../src/standard-methods/read/list-fields.ts";
import { uniqueKeyOf } from "../../src/standard-methods/read/row-reader.ts";
import { type Api, createApi } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import { startTestServer } from "../support/test-server.ts";
import { createPlanReader } from "./read-plan.ts";
import { readRowsPage } from "./read-rows-page.ts";

const pageSize = 50;

/** Creates an org with groups that have all of its members. */
async function createOrg(api: Api, name: string, memberCount: number, groupCount: number): Promise<string> {
  const { id, path: parentPath } = await api.orgs.createOrg({ org: { name } });
  const { members } = await api.members.batchCreateMembers({
    parentPath,
    requests: Array.from({ length: memberCount }, (_, index) => ({ member: { name: `m${index}` } })),
  });
  for (let index = 0; index < groupCount; index++) {
    const group = await api.groups.createGroup({ parentPath, group: { name: `g${index}` } });
    const requests = members.map(({ path: memberPath }) => ({ groupMember: { memberPath } }));
    await api.groupMembers.batchCreateGroupMembers({ parentPath: group.path, requests });
  }
  return id;
}

test("a page of the members of all groups of an org reads what is on it and little more", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const api = createApi("gRPC", server.url, server.operatorKey);
  const client = await openSqlClient(server.databaseUrl);
  onTestFinished(() => client.close());
  for (let index = 0; index < 30; index++) await createOrg(api, `small${index}`, 5, 2);
  await client.query("analyze");
  const orgId = await createOrg(api, "large", 1_000, 15);
  const plans = createPlanReader(server.databaseUrl);
  onTestFinished(() => plans.close());

  const found = required(registry.definitions.find(({ type }) => type === "GroupMember"));
  const definition = found as TypedDefinition<ResourceTable, ResourceRow>;
  const [place] = definition.places;
  const fields = listFieldsOf(definition, place);
  const order = withUniqueKey(parseOrderBy("", fields), uniqueKeyOf(definition, place));
  const list = { showDeleted: false, visible: unlimited, condition: toSql(readFilter("", fields)), order };
  const parent = [{ by: "id", value: orgId } as const, { by: "any" } as const];
  for (const analyzed of ["", "group_members", "members", "groups", "orgs"]) {
    if (analyzed !== "") await client.query(`analyze ${analyzed}`);
    let after: readonly string[] | undefined;
    for (let page = 0; page < 3; page++) {
      const { rows, plan } = await plans.read((db) =>
        readRowsPage(db, definition, place, { ...list, parent, after, limit: pageSize }),
      );
      expect(rows.length).toBe(pageSize);
      expect(plan.rowsRead, `page ${page} with statistics of ${analyzed}: ${plan.text}`).toBeLessThan(6 * pageSize);
      after = cursorOf(order, required(rows.at(-1)));
    }
  }
});
