// Tests that the check of the change log by `npm run chaos` and `npm run week` finds what was changed or lost, and nothing else.
import { expect, onTestFinished, test } from "vitest";
import { askDatabase } from "../../scripts/chaos/ask-database.ts";
import { createFindings } from "../../scripts/chaos/findings.ts";
import { verifyLog } from "../../scripts/chaos/verify-log.ts";
import { createApi } from "../support/api.ts";
import { startTestServer } from "../support/test-server.ts";

const notFollowing = (revision: string): string =>
  `the entry of /orgs/acme/members/alice in ${revision} does not follow from the one before`;

test("an entry follows from the one before if both say the same of what both know", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const { orgs, members } = createApi("Connect", server.url, server.operatorKey);
  await orgs.createOrg({ org: { name: "acme" } });
  const { path } = await members.createMember({ parentPath: "orgs/acme", member: { name: "alice" } });
  for (const description of ["first", "second"]) await members.updateMember({ path, member: { description } });

  const query = (text: string, values?: readonly unknown[]) => askDatabase(server.databaseUrl, text, values);
  const found = async (): Promise<string[]> => {
    const examples: string[] = [];
    await verifyLog(query, [], [], { ...createFindings(), add: (_rule, example) => void examples.push(example) });
    return examples;
  };
  const entries = await query(
    "select revision from changes where resource_path = '/orgs/acme/members/alice' order by revision",
  );
  const [created, first] = entries.map(({ revision }) => String(revision));
  /** Changes what the entry that created Alice ends with, for as long as something is looked at. */
  const foundWith = async (after: string): Promise<string[]> => {
    const set = (value: string, given: readonly unknown[] = []) =>
      query(`update changes set after = ${value} where revision = '${created}' returning after`, given);
    const [{ after: kept } = {}] = await query(`select after from changes where revision = '${created}'`);
    await set(after);
    const examples = await found();
    await set("$1", [kept]);
    return examples;
  };

  expect(await found()).toEqual([]);
  expect(await query(`select from changes where revision = '${created}' and after -> 'delete_time' = 'null'`)).toEqual([
    {},
  ]);
  // A version that does not know a column.
  expect(await foundWith("after - 'delete_time'")).toEqual([]);
  expect(await foundWith("after - 'description'")).toEqual([notFollowing(String(first))]);
  expect(await foundWith(`after || '{"description": "another"}'`)).toEqual([notFollowing(String(first))]);
  expect(await foundWith(`after || '{"delete_time": "2026-01-01T00:00:00Z"}'`)).toEqual([notFollowing(String(first))]);
  expect(await foundWith(`after || '{"unknown": "value"}'`)).toEqual([notFollowing(String(first))]);
});
