import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Author, serviceAuthor } from "../../src/changes/author.ts";
import { canonicalJson } from "../../src/changes/canonical-json.ts";
import type { Change } from "../../src/changes/change.ts";
import type { Proof } from "../../src/changes/entry-proof.ts";
import { eraseEntriesOf } from "../../src/changes/erase-from-log.ts";
import { nextRevision } from "../../src/changes/revision.ts";
import { checkChains } from "../../src/changes/verify-chain.ts";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import { beginGroup, beginInGroup, endGroup, endInGroup, inSavepoint } from "../../src/changes/write-group.ts";
import { required } from "../../src/errors/required.ts";
import { addOrg } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { headOf } from "./logged-writes.ts";
import { faultsOf, proofsOf, storedEntries } from "./logged-proofs.ts";

const database = useSharedDatabase();
let serial = 0;
const newOrg = () => addOrg(database(), `chained-${++serial}`);

const alice = randomUUID();

const odd = 'Ærø "quoted" \\ \n\t\u0001 é 🦖 \ue000';

const author: Author = {
  ...serviceAuthor("iam.v1alpha.MembersService/UpdateMember"),
  actorId: alice,
  origin: {
    credentialId: randomUUID(),
    requestId: odd,
    remoteAddress: "2001:DB8:0:0::1",
    userAgent: odd,
    reason: "ticket 4711",
    onBehalfOf: "carol@example.com",
  },
};

const memberChange = (id: string, name: string): Change => ({
  type: "Member",
  id,
  path: `/orgs/acme/members/${name}`,
  containerId: id,
  before: { id, name, state: "INVITED", labels: { z: odd, a: "1" }, create_time: new Date(1_700_000_000_123) },
  after: { id, name, state: "ACTIVE", labels: {}, ratio: 1e21, small: 5e-7, size: "123.50", nothing: undefined },
  endTime: new Date(1_700_000_000_456),
});

const log = (org: { id: string }, changes: readonly Change[], by = author): Promise<void> =>
  inTransaction(database(), (db) =>
    writeInOrg(db, { org: { by: "id", value: org.id } }, by, async ({ record }) => changes.forEach(record)),
  );

describe("the entries of an org", () => {
  test("are each chained to the one before: single ones, many at once, and those of groups", async () => {
    const org = await newOrg();
    await log(org, [memberChange(randomUUID(), "one")], serviceAuthor("iam.v1alpha.MembersService/CreateMember"));
    await log(
      org,
      Array.from({ length: 60 }, (_, index) => memberChange(randomUUID(), `many-${index}`)),
    );
    await log(
      org,
      Array.from({ length: 5 }, (_, index) => memberChange(randomUUID(), `few-${index}`)),
    );
    await inTransaction(database(), async (db) => {
      const group = await beginGroup(db, { org: { by: "id", value: org.id } });
      const writeOne = (name: string, failure?: Error) => async () => {
        const transaction = await beginInGroup(group, group.locks, author);
        transaction.record(memberChange(randomUUID(), name));
        endInGroup(group, transaction);
        if (failure !== undefined) throw failure;
      };
      await writeOne("first")();
      await inSavepoint(group, writeOne("taken back", new Error("changed my mind")));
      await inSavepoint(group, writeOne("last"));
      endGroup(group);
    });
    const proofs = await proofsOf(database(), org);
    expect(proofs).toHaveLength(68);
    expect(faultsOf(proofs)).toEqual([]);
    const [first] = await storedEntries(database(), org);
    const starts = proofs.map(({ record }) => (JSON.parse(record) as { chain_start: string }).chain_start);
    expect(new Set(starts)).toEqual(new Set([first?.revision]));
  });

  test("begin another chain after an older server has written, and say where", async () => {
    const org = await newOrg();
    await log(org, [memberChange(alice, "alice")]);
    const old = nextRevision(await headOf(database(), org));
    await sql`
      with head as (update orgs set revision = ${old}, revision_time = revision_time + interval '1 ms' where id = ${org.id}
        returning customer_id, id, revision_time)
      insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, resource_path, after)
      select customer_id, id, ${old}, 0, revision_time, 3, 'iam.v1alpha.MembersService/CreateMember', 'Member', ${alice}, '/x', '{}' from head`.execute(
      database().writes,
    );
    await log(org, [memberChange(alice, "alice")]);
    const [first, second, third] = await storedEntries(database(), org);
    expect([first, second, third].map((entry) => entry?.chain_start)).toEqual([first?.revision, null, third?.revision]);
    expect(third?.revision).not.toBe(first?.revision);
  });
});

/** Three entries of an org. */
async function threeProofs(): Promise<[Proof, Proof, Proof]> {
  const org = await newOrg();
  for (const name of ["a", "b", "c"]) await log(org, [memberChange(alice, name)]);
  return (await proofsOf(database(), org)) as [Proof, Proof, Proof];
}

describe("a check of a chain", () => {
  test("finds every field of a record that was changed", async () => {
    const [first, second, third] = await threeProofs();
    const record = JSON.parse(second.record) as Record<string, unknown>;
    expect(Object.keys(record).toSorted()).toEqual(Object.keys(record));
    for (const field of Object.keys(record)) {
      const changed = { ...second, texts: {}, record: canonicalJson({ ...record, [field]: "another" }) };
      const chains = checkChains();
      const faults = [first, changed, third].map((proof) => chains.add(proof)?.problem);
      expect(faults.slice(0, 2), field).toEqual([
        undefined,
        // Another org has another chain, of which this is the first entry that there is.
        field === "org_id" ? undefined : expect.stringContaining("not what was written"),
      ]);
      if (field === "org_id") expect(faults[2]).toContain("is missing");
    }
  });

  test.each(["after", "before", "origin", "resource_path"] as const)("finds a %s that was changed", async (field) => {
    const [first, second, third] = await threeProofs();
    const changed = { ...second, texts: { ...second.texts, [field]: `${second.texts[field]} ` } };
    expect(faultsOf([first, changed, third])).toMatchObject([{ problem: `its ${field} is not what was written` }]);
  });

  test("finds what was removed or reordered, and takes what is withheld", async () => {
    const [first, second, third] = await threeProofs();
    expect(faultsOf([first, third])).toHaveLength(1);
    expect(faultsOf([first, third, second])).toHaveLength(2);
    expect(faultsOf([{ ...first, texts: {}, keys: {} }, second, { ...third, texts: {}, keys: {} }])).toEqual([]);
    expect(faultsOf([second, third])).toEqual([]);
  });

  test("tells where the database has begun another timeline", async () => {
    const [first, second, third] = await threeProofs();
    const record = JSON.parse(third.record) as Record<string, unknown>;
    const chains = checkChains();
    for (const proof of [first, second, { ...third, record: canonicalJson({ ...record, timeline: 2 }) }]) {
      chains.add(proof);
    }
    expect(chains.breaks).toMatchObject([{ revision: record["revision"], position: 0 }]);
  });

  test("in Python, from the page alone, agrees", async () => {
    const [first, second, third] = await threeProofs();
    const folder = await mkdtemp(join(tmpdir(), "chain-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const run = async (proofs: readonly Proof[]): Promise<string> => {
      const file = join(folder, "export.ndjson");
      await writeFile(file, proofs.map((proof) => `${JSON.stringify({ proof })}\n`).join(""));
      const verify = join(import.meta.dirname, "../../examples/log/verify.py");
      const ended = promisify(execFile)("python3", [verify, file]);
      const { stdout } = await ended.catch((error: unknown) => error as { stdout: string });
      return stdout;
    };
    expect(await run([first, second, third])).toContain(`${third.hash}\n3 entries, 0 faults`);
    expect(await run([first, third])).toContain("2 entries, 1 faults");
    const after = `${second.texts.after} `;
    expect(await run([first, { ...second, texts: { ...second.texts, after } }, third])).toContain("its after is not");
    expect(await run([first, { ...second, record: second.record.replace("CALL", "NONE") }, third])).toContain(
      "1 faults",
    );
  });
});

test("a member that is erased from the log leaves no name, address or word of it, and the chain holds", async () => {
  const org = await newOrg();
  // Other orgs have entries of the other one.
  const [erased, bob] = [randomUUID(), randomUUID()];
  const theirs = { ...author, actorId: erased };
  await log(org, [memberChange(erased, "alice-liddell")], theirs);
  await log(org, [memberChange(bob, "bob")], { ...author, actorId: bob });
  await log(org, [{ ...memberChange(randomUUID(), "key-of-alice-liddell"), containerId: erased }], theirs);
  const erase = (limit: number) =>
    inTransaction(database(), (db) => eraseEntriesOf(db, { type: "Member", orgId: org.id, id: erased }, limit));
  expect(await erase(1)).toBe(1);
  expect(await erase(10)).toBe(1);
  expect(await erase(10)).toBe(0);

  const proofs = await proofsOf(database(), org);
  expect(faultsOf(proofs)).toEqual([]);
  expect(proofs.map(({ texts }) => Object.keys(texts))).toEqual([
    [],
    ["after", "before", "origin", "resource_path"],
    [],
  ]);
  const [own, ofBob] = await storedEntries(database(), org);
  expect(JSON.stringify([own, proofs[0]])).not.toMatch(/liddell|ticket|carol|2001:/i);
  expect(own).toMatchObject({
    actor_id: erased,
    resource_id: erased,
    after: { id: erased, state: "ACTIVE", name: `@${erased}` },
  });
  expect(ofBob).toMatchObject({ resource_path: "/orgs/acme/members/bob", reason: "ticket 4711" });
  expect(required(ofBob?.salt)).toHaveLength(64);
  expect(own?.salt).toBeNull();
});
