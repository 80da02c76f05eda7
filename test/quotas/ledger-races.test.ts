// Tests that servers that reserve concurrently, each with its own connections, never exceed a limit.
import { v7 as uuid } from "uuid";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import type { LedgerPlace } from "../../src/quotas/levels.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { findLedgerDrift } from "../support/find-ledger-drift.ts";
import { type LevelName, ledgerOn, makeKinds, makePlaces, readBalance, setLimit } from "./quota-place.ts";

/** The pools of this many servers, on one database. */
async function openServers(count: number): Promise<Database[]> {
  const { url, drop } = await createTestDatabase();
  const databases = Array.from({ length: count }, () =>
    openDatabase({
      connection: { connectionString: url },
      maxReadConnections: 1,
      maxWriteConnections: 10,
      onConnectionError: () => {},
    }),
  );
  onTestFinished(async () => {
    for (const database of databases) await database.close();
    await drop();
  });
  return databases;
}

const at = <Item>(items: readonly Item[], index: number): Item => required(items[index % items.length]);

/** Runs a statement, again while it does not get a connection: on a busy machine, the others that wait for one take too long. */
async function whenConnected<Result>(run: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Error && error.message === "timeout exceeded when trying to connect")) throw error;
    }
  }
}

/** Returns whether a change was made; false if its quota did not allow it. */
async function isGranted(change: () => Promise<void>): Promise<boolean> {
  try {
    await whenConnected(change);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "QUOTA_EXCEEDED") return false;
    throw error;
  }
}

const cases: readonly { readonly level: LevelName; readonly orgs: number; readonly projects: number }[] = [
  { level: "customer", orgs: 4, projects: 2 },
  { level: "org", orgs: 1, projects: 3 },
  { level: "project", orgs: 1, projects: 1 },
];

test.each(cases)(
  "64 reservations on two servers, with room for 20 in the $level: 20 are granted",
  async ({ level, orgs, projects }) => {
    const servers = await openServers(2);
    const [first] = servers as [Database];
    const places = await makePlaces(first, orgs, projects);
    const place = at(places, 0);
    await makeKinds(first, place.orgId, ["cpu_cores", "ram"]);
    await setLimit(first, place, level, "cpu_cores", "2");
    for (let round = 0; round < rounds(1, 200); round++) {
      const ids = Array.from({ length: 64 }, () => uuid());
      const reserveAt = (index: number) => () =>
        ledgerOn(at(servers, index)).reserve(at(places, index), at(ids, index), { ram: 1, cpu_cores: 0.1 });
      const granted = await Promise.all(ids.map((_, index) => isGranted(reserveAt(index))));
      expect(granted.filter(Boolean)).toHaveLength(20);
      expect(await readBalance(first, place, level, "cpu_cores")).toEqual({ maximum: "2", used: "0", reserved: "2" });
      expect((await readBalance(first, place, level, "ram"))?.reserved).toBe("20");
      expect(await findLedgerDrift(first.reads)).toEqual([]);
      const releaseAt = (index: number) => () =>
        ledgerOn(at(servers, index + 1)).release(at(places, index), at(ids, index));
      await Promise.all(ids.map((_, index) => whenConnected(releaseAt(index))));
      expect(await readBalance(first, place, level, "cpu_cores")).toEqual({ maximum: "2", used: "0", reserved: "0" });
    }
  },
  soakTimeoutMs,
);

test(
  "while resources come, grow, shrink and go and limits change, no total is raised above a limit",
  async () => {
    const servers = await openServers(2);
    const [first] = servers as [Database];
    const places = await makePlaces(first, 3, 2);
    await makeKinds(first, at(places, 0).orgId, ["cpu_cores"]);
    await setLimit(first, at(places, 0), "customer", "cpu_cores", "7");
    const live = async (worker: number): Promise<void> => {
      const ledger = ledgerOn(at(servers, worker));
      const place: LedgerPlace = at(places, worker);
      for (let round = 0; round < rounds(6, 500); round++) {
        const id = uuid();
        if (await isGranted(() => ledger.reserve(place, id, { cpu_cores: 1 }))) {
          await isGranted(() => ledger.settle(place, id, { cpu_cores: 1 + (round % 3) / 10 }));
          await isGranted(() => ledger.reserve(place, id, { cpu_cores: 2 }));
          await whenConnected(() => ledger.settle(place, id, {}));
        }
        const limit = round % 2 === 0 ? "1.5" : null;
        if (worker === 0) await whenConnected(() => setLimit(first, place, "org", "cpu_cores", limit));
        const total = await whenConnected(() => readBalance(first, place, "customer", "cpu_cores"));
        expect(Number(total?.used) + Number(total?.reserved)).toBeLessThanOrEqual(7);
        await whenConnected(() => ledger.release(place, id));
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, worker) => live(worker)));
    const left = await readBalance(first, at(places, 0), "customer", "cpu_cores");
    expect(left).toEqual({ maximum: "7", used: "0", reserved: "0" });
    expect(await findLedgerDrift(first.reads)).toEqual([]);
  },
  soakTimeoutMs,
);
