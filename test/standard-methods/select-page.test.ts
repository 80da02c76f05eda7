// Tests that lists find by the index of labels the rows that have these labels.
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { unlimited } from "../../src/access/evaluation/visibility.ts";
import { registry } from "../../src/resource-registry.ts";
import { cursorOf, withUniqueKey } from "../../src/filters/keyset.ts";
import { parseOrderBy } from "../../src/filters/parse-order-by.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { toSql } from "../../src/filters/to-sql.ts";
import { firstRevision } from "../../src/changes/revision.ts";
import { inTransaction } from "../../src/changes/write-in-org.ts";
import { readClock } from "../../src/database/clock.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import type { MemberRow } from "../../src/iam/members/store.ts";
import { insertCustomer, insertOrg } from "../../src/iam/orgs/create-org.ts";
import { orgDefinition } from "../../src/iam/orgs/definition.ts";
import { listFieldsOf } from "../../src/standard-methods/read/list-fields.ts";
import { uniqueKeyOf } from "../../src/standard-methods/read/row-reader.ts";
import { removeRows } from "../../src/standard-methods/rows/remove-rows.ts";
import { updateRow } from "../../src/standard-methods/rows/update-row.ts";
import { addMember, addOrg, markDeleted, named, sampleAuthor, write } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { rounds } from "../support/rounds.ts";
import type { OrgKey } from "../../src/database/org-key.ts";
import { readRowsPage } from "./read-rows-page.ts";

const shared = useSharedDatabase();
const [place] = memberDefinition.places;
const fields = listFieldsOf(memberDefinition, place);

function relabel(org: OrgKey, row: MemberRow, to: Record<string, string>): Promise<MemberRow> {
  return write(shared(), org, async ({ db, revision, time }) => {
    const { name, display_name: displayName, description } = row;
    const change = { fields: { name, displayName, description, labels: to }, columns: {} };
    return { ...row, ...(await updateRow({ db, org, revision, time }, memberDefinition, row, change)) };
  });
}

function remove(org: OrgKey, row: MemberRow): Promise<void> {
  return write(shared(), org, ({ db }) => removeRows(db, registry, memberDefinition, org, [row]));
}

const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("x", "y", ""), { maxKeys: 3 });

/** What a write does to a member: it changes the labels, deletes or purges it. */
const writes = fc.oneof(
  labels.map((to) => ({ labels: to })),
  fc.constantFrom("deleted" as const, "gone" as const),
);

const atom = fc.constantFrom(
  'labels.a = "x"',
  'labels.b = "y"',
  'labels.c = ""',
  "labels:a",
  'NOT labels.a = "y"',
  "m",
);

const filter = fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join(" AND "));

test("a list by labels has the rows with these labels after any writes, in pages of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(labels, writes), { minLength: 1, maxLength: 12 }),
      filter,
      fc.constantFrom("", "id desc", "name", "update_time desc, name"),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      async (members, text, orderBy, showDeleted, size) => {
        const database = shared();
        const org = await addOrg(database, `labels-${Math.random().toString(36).slice(2)}`);
        for (const [index, [before, after]] of members.entries()) {
          const member = await addMember(database, org, `m${index}`);
          const labelled = await relabel(org, member, before);
          if (after === "gone") await remove(org, member);
          else if (after === "deleted") await markDeleted(database, "members", member);
          else await relabel(org, labelled, after.labels);
        }

        const condition = toSql(readFilter(text, fields));
        const order = withUniqueKey(parseOrderBy(orderBy, fields), uniqueKeyOf(memberDefinition, place));
        const listed: string[] = [];
        let after: readonly string[] | undefined;
        for (let last: MemberRow | undefined; listed.length === 0 || last !== undefined;) {
          const select = {
            parent: [{ by: "id", value: org.id }] as const,
            showDeleted,
            visible: unlimited,
            condition,
            order,
            after,
          };
          const page = await readRowsPage(database.reads, memberDefinition, place, { ...select, limit: size });
          listed.push(...page.map(({ id }) => id));
          last = page.at(-1);
          if (last === undefined) break;
          after = cursorOf(order, last);
        }

        const { rows } = await sql<{ id: string }>`
          select id from members where org_id = ${org.id} and (delete_time is null or ${showDeleted}) and ${condition}
          order by id`.execute(database.reads);
        expect(listed.toSorted()).toEqual(rows.map(({ id }) => id));
      },
    ),
    { numRuns: rounds(30, 2_000) },
  );
});

test("the index of labels has the labels of all rows, including deleted ones, and no others", async () => {
  const { rows } = await sql<{ kept: string; own: string }>`
    select
      (select jsonb_agg(l order by l.resource_id, l.key) from resource_labels l where resource_type = 'Member') as kept,
      (select jsonb_agg(l order by l.resource_id, l.key) from (
        select customer_id, org_id, org_id as parent_id, 'Member' as resource_type, key, value, id as resource_id
        from members, jsonb_each_text(labels)
      ) l) as own`.execute(shared().reads);
  expect(rows[0]?.kept).not.toBeNull();
  expect(rows[0]?.kept).toEqual(rows[0]?.own);
});

test("labels of an org are found and removed, whatever is in the columns of an org and a parent", async () => {
  const database = shared();
  const ofOrgs = listFieldsOf(orgDefinition, orgDefinition.places[0]);
  const order = withUniqueKey(parseOrderBy("", ofOrgs), uniqueKeyOf(orgDefinition, orgDefinition.places[0]));
  const labelled = { ...named("labelled"), labels: { top: "one", other: "two" } };
  const org = await inTransaction(database, async (db) => {
    const customer = await insertCustomer(db, named("labelled"), sampleAuthor);
    return insertOrg(db, customer, labelled, { revision: firstRevision(), time: await readClock(db) });
  });
  // As the next version writes them: without any org.
  await sql`update resource_labels set org_id = gen_random_uuid(), parent_id = gen_random_uuid() where resource_id = ${org.id}`.execute(
    database.writes,
  );
  const list = async (text: string): Promise<string[]> => {
    const condition = toSql(readFilter(text, ofOrgs));
    const selection = { parent: [], showDeleted: false, visible: unlimited, condition, order, after: undefined };
    const page = await readRowsPage(database.reads, orgDefinition, orgDefinition.places[0], {
      ...selection,
      limit: 10,
    });
    return page.map(({ name }) => name);
  };
  expect(await list('labels.top = "one"')).toEqual(["labelled"]);
  expect(await list('labels:top AND labels.other = "two"')).toEqual(["labelled"]);
  await inTransaction(database, async (db) => {
    const target = { db, org: undefined, revision: firstRevision(), time: await readClock(db) };
    const change = { fields: { ...named("labelled"), labels: { other: "two" } }, columns: {} };
    await updateRow(target, orgDefinition, org, change);
  });
  expect([await list("labels:top"), await list("labels:other")]).toEqual([[], ["labelled"]]);
  await sql`delete from resource_labels where resource_id = ${org.id}`.execute(database.writes);
  expect(await list("labels:other")).toEqual([]);
});
