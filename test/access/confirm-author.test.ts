// Tests what is decided again about the author of a write, under its locks, and later about the author of a change.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { createConfirmOf } from "../../src/access/evaluation/confirm-author.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import type { Author } from "../../src/changes/author.ts";
import type { Database } from "../../src/database/database.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { formatReferences } from "../../src/paths/format-path.ts";
import { addApiKey, sampleAuthor } from "../database/sample-rows.ts";
import { openOwnDatabase } from "../support/test-database.ts";
import { type TwoOrgs, createTwoOrgs, decidingIn, denied, onPlatform, requirement, start, alone } from "./deciding.ts";
import { type GuardPlace } from "./guard-place.ts";

let database: Database;
beforeAll(async () => {
  const opened = await openOwnDatabase();
  database = opened.database;
  return opened.close;
});

let orgs: TwoOrgs;
/** The org of the caller, and another one. */
let ours: GuardPlace;
let theirs: GuardPlace;
beforeEach(async () => {
  orgs = await createTwoOrgs(database);
  ({ ours, theirs } = orgs);
});

const { give, createDeciding, callerOf } = decidingIn(() => orgs);

test("a write is confirmed while its author holds what it requires, and who impersonates it may still do so", async () => {
  const path = parseTargetPath(`/orgs/${ours.orgName}`, "path");
  const confirmWith = async (more: Partial<Caller>) => {
    const caller = await callerOf(ours, more);
    const locked = { id: ours.orgId, revision: caller.orgHead.revision, lockTime: new Date() };
    const confirm = createConfirmOf(createDeciding().authorise, alone)(caller, [{ requirement: requirement(), path }]);
    return () => database.writes.transaction().execute((db) => confirm(db, locked));
  };
  const confirmed = async (more: Partial<Caller> = {}) => (await confirmWith(more))();
  await expect(confirmed()).rejects.toMatchObject(denied);
  await give("starter");
  await give("starter", { to: { member: ours.bob } });
  await confirmed();
  const impersonator = { memberId: ours.bob } as Caller["impersonator"];
  const mayNot = { ...denied, metadata: { permission: "iam.members.impersonate" } };
  await expect(confirmed({ impersonator })).rejects.toMatchObject(mayNot);
  await give("impersonator", { to: { member: ours.bob } });
  await confirmed({ impersonator });
});

test("under the lock of one item of a batch, its parent and this item are confirmed, if conditions decide", async () => {
  const { id: credentialId } = await addApiKey(database, { id: ours.orgId }, { id: ours.alice }, "batches");
  const decisionAt = (path: string) => ({ requirement: requirement(), path: parseTargetPath(path, "path") });
  const paths = [`/orgs/${ours.orgName}`, `/orgs/${theirs.orgName}`, `/orgs/@${ours.orgId}`];
  const items = paths.map((path, index) => ({ ...decisionAt(path), index }));

  /** Returns the paths that are decided on under each lock: of an org, for an item or for all. */
  const confirmUnder = async (locks: readonly (readonly [string, number | undefined])[]): Promise<string[][]> => {
    const { authorise } = createDeciding();
    let decided: string[] = [];
    const authoriserOf: typeof authorise.authoriserOf = async (...given) => {
      const authoriser = await authorise.authoriserOf(...given);
      const decideOne: typeof authoriser.decide = (asked, path) => {
        decided.push(formatReferences(path.pattern, path.references));
        return authoriser.decide(asked, path);
      };
      return { ...authoriser, decide: decideOne };
    };
    const caller = await callerOf(ours, { credentialId });
    const confirming = Object.assign(authorise.bind(undefined), authorise, { authoriserOf });
    const confirm = createConfirmOf(confirming, alone)(caller, [{ ...decisionAt(""), items }]);
    return database.writes.transaction().execute(async (db) => {
      const under: string[][] = [];
      for (const [id, item] of locks) {
        decided = [];
        await confirm(db, { id, revision: caller.orgHead.revision, lockTime: new Date() }, item);
        under.push(decided);
      }
      return under;
    });
  };

  const [one = "", other = "", again = ""] = paths;
  const eachAlone = [
    [ours.orgId, 0],
    [theirs.orgId, 1],
    [theirs.orgId, 2],
  ] as const;
  const onAll = formatReferences([], []);
  await give("starter", { on: onPlatform, condition: 'resource.path != ""' });
  expect(await confirmUnder([[ours.orgId, undefined]])).toEqual([[onAll, one, other, again]]);
  const byItem = [one, other, again].map((path) => [onAll, path]);
  expect(await confirmUnder(eachAlone)).toEqual(byItem);
  await give("starter", { on: onPlatform });
  // What is suspended in it is as it is for single requests.
  expect(await confirmUnder(eachAlone)).toEqual(byItem);
  await give("orgLifter", { on: onPlatform });
  expect(await confirmUnder(eachAlone)).toEqual([[onAll], [onAll], []]);
});

test("the author of a change holds what the caller would, now", async () => {
  const holds = (author: Partial<Author>, path: string) => {
    const { authorHolds } = createDeciding();
    const whole = { ...sampleAuthor, actorId: ours.alice, actorOrgId: ours.orgId, ...author };
    return authorHolds(database.reads, whole, start, parseTargetPath(path, "path"));
  };
  const org = `/orgs/${ours.orgName}`;
  expect([await holds({ actorId: null }, org), await holds({}, org)]).toEqual([true, false]);
  await give("starter", { condition: `subject.type == "member" && resource.path == "${org}"` });
  await give("starter", { on: { kind: "project", id: ours.web }, expireTime: new Date(Date.now() + 3_600_000) });
  expect([await holds({}, org), await holds({}, `${org}/projects/web`)]).toEqual([true, true]);
  expect(await holds({}, `${org}/projects/shop`)).toBe(false);
  const narrowing = { scopes: undefined, projectId: ours.web };
  expect([await holds({ narrowing }, org), await holds({ narrowing }, `${org}/projects/web`)]).toEqual([false, true]);
});
