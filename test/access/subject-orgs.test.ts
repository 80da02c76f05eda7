// Tests how old a confirmed org may be, by a clock that the test moves.
import { expect, test } from "vitest";
import { createHeldOrgs } from "../../src/access/away/held-orgs.ts";
import { createViewCaller } from "../../src/access/evaluation/caller-view.ts";
import { compileWithinBudget } from "../../src/access/evaluation/condition-input.ts";
import { createAccessEvaluator } from "../../src/access/evaluation/evaluator.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { createOrgHeads } from "../../src/access/snapshots/org-heads.ts";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import { createSubjectOrgs } from "../../src/iam/access-checks/subject-orgs.ts";
import { memberDefinition } from "../../src/iam/members/definition.ts";
import { createRecentOrgs } from "../../src/identity/recent-orgs.ts";
import { recordChange } from "../../src/standard-methods/write/append-change.ts";
import { insertMember, sampleAuthor } from "../database/sample-rows.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { createTwoOrgs, decidingIn, onPlatform, roles } from "./deciding.ts";
import { names } from "./sample-snapshot.ts";

test("while the database answers, no org is older than a minute, whatever the caller allows", async () => {
  const database = await openTestDatabase();
  const orgs = await createTwoOrgs(database);
  const { ours, theirs } = orgs;
  for (const role of ["lister", "lifter"]) await ours.bind({ role, to: { member: ours.alice }, on: onPlatform });
  const caller = await decidingIn(() => orgs).callerOf(ours);
  const snapshots = createSnapshots({
    database,
    readConnections: 4,
    maxBytes: Infinity,
    predefinedRoles: roles,
    compileCondition: compileWithinBudget,
  });
  const evaluator = createAccessEvaluator({ database, ...names, recordUse: () => {}, systemOrgId: "" });
  const heads = createOrgHeads(database, createRecentOrgs());
  const held = createHeldOrgs(snapshots, 0);
  let nowMs = 0;
  const view = createViewCaller(snapshots, database);
  const subjectOrgs = createSubjectOrgs(view, snapshots, heads, evaluator, held, () => nowMs);
  const confirm = async () => {
    const day = { maxMs: 86_400_000, revision: "" };
    const confirmed = await subjectOrgs.confirm(caller, { by: "id", value: theirs.orgId }, "iam.members.list", day);
    return confirmed?.snapshot.revision;
  };
  const first = await confirm();
  await inTransaction(database, (db) =>
    writeInOrg(db, { org: { by: "id", value: theirs.orgId } }, sampleAuthor, async (transaction) =>
      recordChange(transaction, memberDefinition, null, await insertMember(transaction, "carol")),
    ),
  );
  nowMs += 60_000;
  expect(await confirm()).toBe(first);
  nowMs += 1;
  const second = await confirm();
  expect([typeof second, second === first]).toEqual(["string", false]);
});
