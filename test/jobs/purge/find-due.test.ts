// Tests how the job learns what ends next: by a statement that each connection plans once, also while the tables are empty.
import { expect, test } from "vitest";
import { openPurgeFixture } from "./purge-fixture.ts";

interface Node {
  readonly "Node Type": string;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): string[] => [node["Node Type"], ...(node.Plans ?? []).flatMap(nodesOf)];

const literals: Readonly<Record<string, string>> = { "double precision": "1000", bigint: "1", "uuid[]": "'{}'" };

test("the statement that asks what ends next reads the first entries of indexes, and sorts nothing but what it returns", async () => {
  const fixture = await openPurgeFixture();
  const database = fixture.connect();
  await fixture.createJob({ database }).runOnce();
  // Connections are used again, so this is the one that has the statement.
  const [kept] = await database.readPrepared<{ types: readonly string[] }>(
    "kept",
    "select parameter_types::text[] as types from pg_prepared_statements where name = 'find_next_purges'",
    [],
  );
  const values = (kept?.types ?? []).map((type) => literals[type] ?? `no value of ${type}`);
  const [explained] = await database.readPrepared<{ "QUERY PLAN": readonly { readonly Plan: Node }[] }>(
    "explain",
    `explain (format json) execute find_next_purges(${values.join(", ")})`,
    [],
  );
  const nodes = (explained?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
  expect(nodes.filter((type) => type.includes("Scan") && !/^(?:Index|Index Only|Subquery) Scan$/.test(type))).toEqual(
    [],
  );
  expect(nodes.filter((type) => type.includes("Sort"))).toEqual(["Sort"]);
  expect(nodes.filter((type) => type === "Index Scan").length).toBeGreaterThan(10);
});
