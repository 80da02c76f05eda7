// Tests how changes of what resources hold count against the quotas of their project, org and customer.
import { v7 as uuid } from "uuid";
import { beforeAll, expect, test } from "vitest";
import { preview, reserve } from "../../src/quotas/ledger.ts";
import type { LedgerPlace } from "../../src/quotas/levels.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import { required } from "../../src/errors/required.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import {
  type LevelName,
  exact,
  inLockedOrg,
  ledgerOn,
  makeKinds,
  makePlaces,
  readBalance,
  setLimit,
} from "./quota-place.ts";

const shared = useSharedDatabase();
const levels: readonly LevelName[] = ["customer", "org", "project"];

let place: LedgerPlace;
beforeAll(async () => {
  const [made] = await makePlaces(shared(), 1, 1);
  await makeKinds(shared(), required(made).orgId, ["cpu_cores", "ram", "gpus"]);
});

/** A customer with one org and one project. */
async function freshPlace(): Promise<LedgerPlace> {
  place = required((await makePlaces(shared(), 1, 1))[0]);
  return place;
}

const balances = (kind: string) =>
  Promise.all(
    levels.map(async (level) => {
      const found = await readBalance(shared(), place, level, kind);
      return found && [found.used, found.reserved];
    }),
  );

const thrice = (...balance: string[]) => [balance, balance, balance];

/** Returns the error of a refused change. */
async function refusalOf(change: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await change.then(
    () => expect.unreachable("the change was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw error;
  expect(error.reason).toBe("QUOTA_EXCEEDED");
  return error;
}

test("a resource is charged for what it uses, reserves more, and frees everything, at every level", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await ledger.reserve(place, id, { cpu_cores: 2, ram: 4096 });
  expect(await balances("cpu_cores")).toEqual(thrice("0", "2"));
  await ledger.settle(place, id, { cpu_cores: 3, ram: 4096 });
  expect(await balances("cpu_cores")).toEqual(thrice("3", "0"));
  expect(await balances("ram")).toEqual(thrice("4096", "0"));
  await ledger.release(place, id);
  expect(await balances("cpu_cores")).toEqual([undefined, undefined, undefined]);
  expect(await balances("ram")).toEqual([undefined, undefined, undefined]);
});

test("a resize holds the larger of both amounts until it is settled", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await ledger.settle(place, id, { cpu_cores: 4 });
  await ledger.reserve(place, id, { cpu_cores: 6 });
  expect(await balances("cpu_cores")).toEqual(thrice("4", "2"));
  await ledger.reserve(place, id, { cpu_cores: 1 });
  expect(await balances("cpu_cores")).toEqual(thrice("4", "0"));
  await ledger.settle(place, id, { cpu_cores: 1 });
  expect(await balances("cpu_cores")).toEqual(thrice("1", "0"));
});

test("a failed operation is settled without amounts: the resource holds the same as before", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await ledger.settle(place, id, { cpu_cores: 4, ram: 1 });
  await ledger.reserve(place, id, { cpu_cores: 6, gpus: 1 });
  await ledger.settle(place, id, {});
  expect(await balances("cpu_cores")).toEqual(thrice("4", "0"));
  expect(await balances("ram")).toEqual(thrice("1", "0"));
  expect(await balances("gpus")).toEqual([undefined, undefined, undefined]);
});

test.each(levels)("a limit of the %s refuses what exceeds it, and nothing changes", async (level) => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await setLimit(shared(), place, level, "cpu_cores", "10");
  await ledger.settle(place, uuid(), { cpu_cores: 5 });
  await ledger.reserve(place, uuid(), { cpu_cores: 2 });
  const error = await refusalOf(ledger.reserve(place, id, { cpu_cores: 3.5, ram: 1 }));
  const path = { customer: place.customerId, org: place.orgId, project: place.projectId }[level];
  expect(error.quotas).toEqual([
    {
      subject: expect.stringMatching(new RegExp(`/n${path}$`)) as string,
      description: expect.stringContaining(
        " for cpu_cores is 10: 5 are used, 2 reserved, and 3.5 more are needed; the permission iam.quotas.update on ",
      ) as string,
      metric: "cpu_cores",
      amounts: { limit: "10", used: "5", reserved: "2", asked: "3.5" },
    },
  ]);
  const above = { customer: "the platform", org: `/customers/n${place.customerId}`, project: `/orgs/n${place.orgId}` };
  const ask = `, and a quota request in /orgs/n${place.orgId}/quotaRequests asks for it`;
  expect(error.quotas[0]?.description).toMatch(
    new RegExp(`iam.quotas.update on ${above[level]} allows to raise it${level === "customer" ? "" : ask}$`),
  );
  expect(error.metadata).toMatchObject({ kind: "cpu_cores", limit: "10", used: "5", reserved: "2", asked: "3.5" });
  expect(await balances("cpu_cores")).toEqual(thrice("5", "2"));
  expect(await balances("ram")).toEqual([undefined, undefined, undefined]);
  await ledger.reserve(place, id, { cpu_cores: 3 });
  expect(await balances("cpu_cores")).toEqual(thrice("5", "5"));
});

test("a refusal names every exceeded limit, level by level", async () => {
  await freshPlace();
  await setLimit(shared(), place, "customer", "ram", "1");
  await setLimit(shared(), place, "project", "cpu_cores", "1");
  await setLimit(shared(), place, "org", "ram", "1");
  const error = await refusalOf(ledgerOn(shared()).reserve(place, uuid(), { cpu_cores: 2, ram: 2, gpus: 2 }));
  expect(error.quotas.map(({ subject, metric }) => [subject.split("/").at(1), metric])).toEqual([
    ["customers", "ram"],
    ["orgs", "ram"],
    ["orgs", "cpu_cores"],
  ]);
  expect(error.message.split("; ")).toHaveLength(6);
});

test("a caller that catches a refusal has changed nothing", async () => {
  await freshPlace();
  await setLimit(shared(), place, "org", "cpu_cores", "1");
  const ledger = ledgerOn(shared());
  await ledger.reserve(place, uuid(), { cpu_cores: 1 });
  await inLockedOrg(shared(), place, async ({ db }) => {
    await refusalOf(reserve({ db }, place, uuid(), exact({ cpu_cores: 1, ram: 1 })));
  });
  expect(await balances("cpu_cores")).toEqual(thrice("0", "1"));
  expect(await balances("ram")).toEqual([undefined, undefined, undefined]);
});

test("below a lowered limit, only increases are refused", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await ledger.reserve(place, id, { cpu_cores: 8 });
  await setLimit(shared(), place, "project", "cpu_cores", "2");
  await ledger.settle(place, id, { cpu_cores: 8 });
  await ledger.reserve(place, id, { cpu_cores: 8 });
  await refusalOf(ledger.reserve(place, id, { cpu_cores: 8.5 }));
  await refusalOf(ledger.reserve(place, uuid(), { cpu_cores: 1 }));
  await ledger.reserve(place, uuid(), { ram: 1, cpu_cores: 0 });
  await ledger.settle(place, id, { cpu_cores: 7 });
  expect(await balances("cpu_cores")).toEqual(thrice("7", "0"));
  await ledger.release(place, id);
  await ledger.reserve(place, id, { cpu_cores: 2 });
});

test("what is given beyond the reservation must be within the limit, too", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await setLimit(shared(), place, "customer", "cpu_cores", "4");
  await ledger.reserve(place, id, { cpu_cores: 3 });
  await refusalOf(ledger.settle(place, id, { cpu_cores: 5 }));
  expect(await balances("cpu_cores")).toEqual(thrice("0", "3"));
  await ledger.settle(place, id, { cpu_cores: 4 });
  expect(await balances("cpu_cores")).toEqual(thrice("4", "0"));
});

test("ten times 0.1 is 1, and an eleventh does not fit", async () => {
  await freshPlace();
  const ledger = ledgerOn(shared());
  await setLimit(shared(), place, "org", "cpu_cores", "1");
  for (let count = 0; count < 10; count++) await ledger.reserve(place, uuid(), { cpu_cores: 0.1 });
  expect(await balances("cpu_cores")).toEqual(thrice("0", "1"));
  await refusalOf(ledger.reserve(place, uuid(), { cpu_cores: 1e-9 }));
});

test("sums beyond 2^53 are exact", async () => {
  await freshPlace();
  const ledger = ledgerOn(shared());
  await setLimit(shared(), place, "org", "ram", "9007199254740993");
  await ledger.settle(place, uuid(), { ram: 2 ** 53 });
  await ledger.settle(place, uuid(), { ram: 1 });
  expect(await balances("ram")).toEqual(thrice("9007199254740993", "0"));
  await refusalOf(ledger.settle(place, uuid(), { ram: 1 }));
  await ledger.settle(place, uuid(), { cpu_cores: 1e24 });
  await ledger.settle(place, uuid(), { cpu_cores: 1e-7 });
  expect(await balances("cpu_cores")).toEqual(thrice("1000000000000000000000000.0000001", "0"));
});

test("a preview returns what would be left at each level, and changes nothing", async () => {
  await freshPlace();
  const [ledger, id] = [ledgerOn(shared()), uuid()];
  await setLimit(shared(), place, "customer", "cpu_cores", "10");
  await setLimit(shared(), place, "project", "cpu_cores", "5");
  await ledger.settle(place, id, { cpu_cores: 3 });
  const seen = await inLockedOrg(shared(), place, (transaction) =>
    preview(transaction, place, id, exact({ cpu_cores: 6.5, ram: 1 })),
  );
  const cores = { kind: "cpu_cores", used: "3", reserved: "3.5" };
  const ram = { kind: "ram", limit: null, used: "0", reserved: "1", left: null };
  expect(seen).toEqual([
    { ...cores, level: "customer", limit: "10", left: "3.5" },
    { ...ram, level: "customer" },
    { ...cores, level: "org", limit: null, left: null },
    { ...ram, level: "org" },
    { ...cores, level: "project", limit: "5", left: "-1.5" },
    { ...ram, level: "project" },
  ]);
  expect(await balances("cpu_cores")).toEqual(thrice("3", "0"));
});

test("projects and orgs share the quota of their parents", async () => {
  const places = await makePlaces(shared(), 2, 2);
  const ledger = ledgerOn(shared());
  place = required(places[0]);
  await setLimit(shared(), place, "customer", "cpu_cores", "4");
  await setLimit(shared(), place, "org", "cpu_cores", "2");
  for (const each of places.slice(0, 2)) await ledger.reserve(each, uuid(), { cpu_cores: 1 });
  await refusalOf(ledger.reserve(required(places[1]), uuid(), { cpu_cores: 1 }));
  for (const each of places.slice(2)) await ledger.reserve(each, uuid(), { cpu_cores: 1 });
  await refusalOf(ledger.reserve(required(places[3]), uuid(), { cpu_cores: 1 }));
  expect(await balances("cpu_cores")).toEqual([
    ["0", "4"],
    ["0", "2"],
    ["0", "1"],
  ]);
});
