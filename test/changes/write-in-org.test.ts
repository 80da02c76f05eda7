import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/changes/change.ts";
import { inTransaction, writeInOrg } from "../../src/changes/write-in-org.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addMember, addOrg, markDeleted, sampleAuthor, write } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { rejectionOf } from "../paths/service-failure.ts";
import { addLogged, changeOf, changesOf, createGate, headOf, revisionOf } from "./logged-writes.ts";
import { serviceAuthor } from "../../src/changes/author.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { numbersOf } from "../support/revisions.ts";

const database = useSharedDatabase();
let serial = 0;

const newOrg = () => addOrg(database(), `org-${++serial}`);

describe("the revisions of an org's changes", () => {
  test("have no gaps and are in commit order, with concurrent writes and failures", async () => {
    const busy = await newOrg();
    let done = false;
    // At any time, a reader sees all revisions up to the one of the org.
    const watch = async (): Promise<number> => {
      for (let seen = 0; ; seen++) {
        const { rows } = await sql<{ last: string; count: number; head: string }>`
          select coalesce((select revision from changes where org_id = orgs.id order by revision desc limit 1), revision) as last,
            (select count(*)::int from changes where org_id = orgs.id) as count, revision as head
          from orgs where id = ${busy.id}`.execute(database().reads);
        expect(rows.map(({ last }) => [Number(numberOf(last)) - 1, last])).toEqual(
          rows.map(({ count, head }) => [count, head]),
        );
        if (done) return seen;
      }
    };
    const watching = watch();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        write(database(), busy, async (transaction) => {
          const id = await addLogged(transaction, `member-${index}`);
          if (index % 5 === 0) throw new Error("changed my mind");
          return { id, revision: transaction.revision };
        }),
      ),
    );
    done = true;
    expect(await watching).toBeGreaterThan(0);

    const written = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(written).toHaveLength(40);
    const changes = await changesOf(database(), busy);
    expect(numbersOf(changes)).toEqual(Array.from({ length: 40 }, (_, index) => index + 2));
    expect(await revisionOf(database(), busy)).toBe(41);
    // The writers, the change log and the rows have the same revisions.
    const expected = new Map(written.map(({ id, revision }) => [id, revision]));
    expect(new Map(changes.map((change) => [change.resource_id, change.revision]))).toEqual(expected);
    const members = await database().reads.selectFrom("members").selectAll().where("org_id", "=", busy.id).execute();
    expect(new Map(members.map((member) => [member.id, member.changed_revision]))).toEqual(expected);
  });

  test("are shared by all changes of one write, in the order of their records", async () => {
    const target = await newOrg();
    const ids = await write(database(), target, async (transaction) => [
      await addLogged(transaction, "first"),
      await addLogged(transaction, "second"),
      await addLogged(transaction, "third"),
    ]);
    const changes = await changesOf(database(), target);
    expect(numbersOf(changes)).toEqual([2, 2, 2]);
    expect(new Set(changes.map(({ revision }) => revision)).size).toBe(1);
    expect(changes.map(({ position, resource_id }) => [position, resource_id])).toEqual([...ids.entries()]);
  });

  test("continue above the integers of a 64-bit float", async () => {
    const old = await newOrg();
    await database()
      .writes.updateTable("orgs")
      .set({ revision: "00200000-0000-0001-8000-000000000000" })
      .where("id", "=", old.id)
      .execute();
    await write(database(), old, (transaction) => addLogged(transaction, "alice"));
    const [change] = await changesOf(database(), old);
    expect(numberOf(change?.revision ?? "")).toBe(9_007_199_254_740_994n);
  });
});

describe("a write", () => {
  test("is logged with its author, its method, and the rows before and after", async () => {
    const target = await newOrg();
    const actorId = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
    const change: Change = {
      type: "Project",
      id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4c",
      path: "/orgs/acme/projects/shop",
      containerId: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4c",
      before: { name: "shop", labels: { a: "1" }, create_time: new Date(0) },
      after: { name: "store", description: 'quotes " and 💥' },
    };
    const method = "iam.v1alpha.ProjectsService/UpdateProject";
    const author = { ...serviceAuthor(method), actorId, actorOrgId: target.id };
    await inTransaction(database(), (db) =>
      writeInOrg(db, { org: { by: "name", value: target.name } }, author, async ({ record }) => record(change)),
    );
    expect(await changesOf(database(), target)).toEqual([
      {
        customer_id: target.customer_id,
        org_id: target.id,
        revision: await headOf(database(), target),
        position: 0,
        actor_id: actorId,
        method,
        resource_type: "Project",
        resource_id: change.id,
        resource_path: change.path,
        time: expect.any(Date),
        format: 4,
        actor_org_id: target.id,
        credential_id: null,
        impersonator_id: null,
        on_behalf_of: null,
        request_id: null,
        remote_address: null,
        user_agent: null,
        reason: null,
        end_time: null,
        before: { name: "shop", labels: { a: "1" }, create_time: "1970-01-01T00:00:00.000Z" },
        after: change.after,
        container_id: change.containerId,
        delegate_id: null,
        delegation_id: null,
        source: "CALL",
        source_id: null,
        timeline: 1,
        chain_start: expect.any(String),
        hash: expect.any(Buffer),
        salt: expect.any(Buffer),
        erased: null,
      },
    ]);
  });

  test("that fails leaves no rows, no changes and no revision", async () => {
    const target = await newOrg();
    const failing = write(database(), target, async (transaction) => {
      await addLogged(transaction, "alice");
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await changesOf(database(), target)).toEqual([]);
    expect(await revisionOf(database(), target)).toBe(1);
    expect(await database().reads.selectFrom("members").where("org_id", "=", target.id).selectAll().execute()).toEqual(
      [],
    );
  });

  test("whose change cannot be logged leaves nothing, either", async () => {
    const target = await newOrg();
    const failing = write(database(), target, async (transaction) => {
      const id = await addLogged(transaction, "alice");
      transaction.record({ ...changeOf(id), after: null });
    });
    await expect(failing).rejects.toThrow("changes_check");
    expect(await revisionOf(database(), target)).toBe(1);
    expect(await database().reads.selectFrom("members").where("org_id", "=", target.id).selectAll().execute()).toEqual(
      [],
    );
  });

  test("that records nothing does not change the revision", async () => {
    const target = await newOrg();
    const revision = await write(database(), target, (transaction) => Promise.resolve(transaction.revision));
    expect(numberOf(revision)).toBe(2n);
    expect(await revisionOf(database(), target)).toBe(1);
    expect(await changesOf(database(), target)).toEqual([]);
  });
});

describe("an org that is not active", () => {
  test("is not found if no org has the name or the id", async () => {
    for (const [reference, path] of [
      [{ by: "name", value: "nobody" }, "/orgs/nobody"],
      [{ by: "id", value: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b" }, "/orgs/@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b"],
    ] as const) {
      const call = inTransaction(database(), (db) =>
        writeInOrg(db, { org: reference }, sampleAuthor, () => Promise.reject(new Error("ran"))),
      );
      expect(await rejectionOf(call)).toMatchObject({
        reason: "RESOURCE_NOT_FOUND",
        message: `there is no org ${path}`,
        metadata: { resource: path },
      });
    }
  });

  test("rejects writes while it is suspended", async () => {
    const target = await newOrg();
    await database().writes.updateTable("orgs").set({ state: "SUSPENDED" }).where("id", "=", target.id).execute();
    expect(
      await rejectionOf(write(database(), target, (transaction) => addLogged(transaction, "alice"))),
    ).toMatchObject({
      reason: "STATE_FORBIDS",
      message: `the org /orgs/${target.name} is SUSPENDED: nothing in it can be changed`,
      metadata: { resource: `/orgs/${target.name}`, state: "SUSPENDED" },
    });
    expect(await changesOf(database(), target)).toEqual([]);
  });

  test("rejects writes after its deletion, and is not found by name", async () => {
    const target = await newOrg();
    await markDeleted(database(), "orgs", target);
    expect(
      await rejectionOf(write(database(), target, (transaction) => addLogged(transaction, "alice"))),
    ).toMatchObject({
      reason: "STATE_FORBIDS",
      metadata: { state: "DELETED" },
    });
    const byName = inTransaction(database(), (db) =>
      writeInOrg(db, { org: { by: "name", value: target.name } }, sampleAuthor, (transaction) =>
        addLogged(transaction, "a"),
      ),
    );
    expect((await rejectionOf(byName)).reason).toBe("RESOURCE_NOT_FOUND");
  });

  test("rejects a write that waited during the deletion", async () => {
    const target = await newOrg();
    const [deleted, finish] = [createGate(), createGate()];
    const deletion = database()
      .writes.transaction()
      .execute(async (db) => {
        const now = new Date();
        await db.updateTable("orgs").set({ delete_time: now, purge_time: now }).where("id", "=", target.id).execute();
        deleted.open();
        await finish.opened;
      });
    await deleted.opened;
    const waiting = write(database(), target, (transaction) => addLogged(transaction, "alice"));
    const rejection = rejectionOf(waiting);
    await sleep(50);
    finish.open();
    await deletion;
    expect((await rejection).reason).toBe("STATE_FORBIDS");
  });
});

/** Holds the lock of an org until the returned function is called. */
async function holdLock(target: OrgRow): Promise<() => Promise<void>> {
  const [held, released] = [createGate(), createGate()];
  const holding = write(database(), target, async (transaction) => {
    await addLogged(transaction, `holder-${++serial}`);
    held.open();
    await released.opened;
  });
  await held.opened;
  return async () => {
    released.open();
    await holding;
  };
}

describe("the lock of an org", () => {
  test("blocks other writes of that org, and nothing else", async () => {
    const [locked, other] = [await newOrg(), await newOrg()];
    const member = await addMember(database(), locked, "alice");
    const release = await holdLock(locked);
    try {
      let isDone = false;
      const waiting = write(database(), locked, (transaction) => addLogged(transaction, "bob")).then(
        () => (isDone = true),
      );

      await write(database(), other, (transaction) => addLogged(transaction, "carol"));
      const { reads } = database();
      expect(await reads.selectFrom("orgs").select("id").where("id", "=", locked.id).execute()).toHaveLength(1);
      const members = await reads.selectFrom("members").select("id").where("org_id", "=", locked.id).execute();
      // Uncommitted changes are not visible.
      expect(members).toEqual([{ id: member.id }]);
      expect(await changesOf(database(), locked)).toEqual([]);

      await sleep(50);
      expect(isDone).toBe(false);
      await release();
      await waiting;
      expect(numbersOf(await changesOf(database(), locked))).toEqual([2, 3]);
    } finally {
      await release();
    }
  });

  test("blocks no reads, however many writers wait for it", async () => {
    const locked = await newOrg();
    const release = await holdLock(locked);
    // More writers than there are connections for writes.
    const waiting = Array.from({ length: 20 }, (_, index) =>
      write(database(), locked, (transaction) => addLogged(transaction, `member-${index}`)),
    );
    await sleep(50);
    const rows = await database().readPrepared("read_under_lock", "select 1 as one", []);
    expect(rows).toEqual([{ one: 1 }]);
    await release();
    await Promise.all(waiting);
    expect(await revisionOf(database(), locked)).toBe(22);
  });
});
