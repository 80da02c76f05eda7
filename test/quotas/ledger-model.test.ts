// Compares random sequences of changes, after every step, with a model that adds up what each resource holds.
import { Big } from "big.js";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { ServiceError } from "../../src/errors/service-error.ts";
import type { LedgerPlace } from "../../src/quotas/levels.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { fuzzParameters } from "../support/fuzz-parameters.ts";
import { soakTimeoutMs } from "../support/rounds.ts";
import { type Amounts, type LevelName, ledgerOn, makeKinds, makePlaces, scopeOf, setLimit } from "./quota-place.ts";

const shared = useSharedDatabase();
const kinds = ["cpu_cores", "ram"] as const;
const levels: readonly LevelName[] = ["customer", "org", "project"];
const stepsPerRun = 40;

type Step =
  | { readonly kind: "reserve" | "settle"; readonly resource: number; readonly amounts: Amounts }
  | { readonly kind: "release"; readonly resource: number }
  | {
      readonly kind: "limit";
      readonly place: number;
      readonly level: LevelName;
      readonly of: string;
      readonly limit: string | null;
    };

/** Tenths, a few of which fill a limit. */
const amount = fc.integer({ min: 0, max: 30 }).map((tenths) => tenths / 10);
const amounts = fc.dictionary(fc.constantFrom(...kinds), amount, { maxKeys: 2 });
const resource = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("reserve" as const), resource, amounts }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("settle" as const), resource, amounts }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("release" as const), resource }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("limit" as const),
      place: fc.nat(3),
      level: fc.constantFrom(...levels),
      of: fc.constantFrom(...kinds),
      limit: fc.option(fc.integer({ min: 0, max: 90 }).map((tenths) => String(tenths / 10))),
    }),
  },
);

interface Held {
  used: Big;
  reserved: Big;
}

/** A model of the ledger without tables: each sum is computed from the resources. */
function createModel(places: readonly LedgerPlace[]) {
  const limits = new Map<string, Big>();
  /** By resource and kind. Two resources are in each project. */
  const held = new Map<string, Held>();
  const placeOf = (index: number): LedgerPlace => required(places[index >> 1]);
  const scopeId = (place: LedgerPlace, level: LevelName): string => scopeOf(place, level).scopeId;
  const heldBy = (index: number, kind: string): Held =>
    held.get(`${index} ${kind}`) ?? { used: new Big(0), reserved: new Big(0) };

  const sumOf = (level: LevelName, scope: string, kind: string): Held => {
    const sum = { used: new Big(0), reserved: new Big(0) };
    for (let index = 0; index < places.length * 2; index++) {
      if (scopeId(placeOf(index), level) !== scope) continue;
      sum.used = sum.used.plus(heldBy(index, kind).used);
      sum.reserved = sum.reserved.plus(heldBy(index, kind).reserved);
    }
    return sum;
  };

  const after = (change: Exclude<Step, { kind: "limit" }>, kind: string): Held => {
    const { used } = heldBy(change.resource, kind);
    const zero = new Big(0);
    if (change.kind === "release") return { used: zero, reserved: zero };
    const given = change.amounts[kind];
    if (change.kind === "settle") return { used: given === undefined ? used : new Big(given), reserved: zero };
    const more = new Big(given ?? 0).minus(used);
    return { used, reserved: more.gt(0) ? more : zero };
  };

  return {
    placeOf,
    /** Makes a change if all limits allow it. Returns whether they do. */
    apply(change: Step): boolean {
      if (change.kind === "limit") {
        const key = `${scopeId(required(places[change.place]), change.level)} ${change.of}`;
        if (change.limit === null) limits.delete(key);
        else limits.set(key, new Big(change.limit));
        return true;
      }
      for (const kind of kinds) {
        const [before, next] = [heldBy(change.resource, kind), after(change, kind)];
        const more = next.used.plus(next.reserved).minus(before.used).minus(before.reserved);
        if (!more.gt(0)) continue;
        for (const level of levels) {
          const scope = scopeId(placeOf(change.resource), level);
          const limit = limits.get(`${scope} ${kind}`);
          const { used, reserved } = sumOf(level, scope, kind);
          if (limit !== undefined && used.plus(reserved).plus(more).gt(limit)) return false;
        }
      }
      const next = kinds.map((kind) => [kind, after(change, kind)] as const);
      for (const [kind, amountsAfter] of next) held.set(`${change.resource} ${kind}`, amountsAfter);
      return true;
    },
    /** Returns all quotas that have a limit or usage, sorted. */
    quotas(): string[] {
      const lines = new Set<string>();
      for (const place of places) {
        for (const level of levels) {
          for (const kind of kinds) {
            const scope = scopeId(place, level);
            const limit = limits.get(`${scope} ${kind}`);
            const { used, reserved } = sumOf(level, scope, kind);
            if (limit === undefined && used.eq(0) && reserved.eq(0)) continue;
            lines.add(`${scope} ${kind} ${limit?.toFixed() ?? "none"} ${used.toFixed()} ${reserved.toFixed()}`);
          }
        }
      }
      return [...lines].toSorted();
    },
  };
}

async function readQuotas(database: Database, { customerId }: LedgerPlace): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', scope_id, kind, coalesce(trim_scale(maximum)::text, 'none'), trim_scale(used), trim_scale(reserved))
      as line
    from quotas where customer_id = ${customerId}`.execute(database.writes);
  return rows.map(({ line }) => line).toSorted();
}

const idOf = (run: number, index: number): string =>
  `00000000-0000-7000-8000-${String(run * 100 + index).padStart(12, "0")}`;

test(
  "every change leaves the quotas that the model has, and is refused when the model refuses it",
  async () => {
    let run = 0;
    const counts = { made: 0, refused: 0 };
    const property = fc.asyncProperty(
      fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun }),
      async (steps) => {
        run++;
        const places = await makePlaces(shared(), 2, 2);
        const [first] = places as [LedgerPlace];
        await makeKinds(shared(), first.orgId, kinds);
        const [model, ledger] = [createModel(places), ledgerOn(shared())];
        for (const each of steps) {
          const isAllowed = model.apply(each);
          counts[isAllowed ? "made" : "refused"]++;
          try {
            await make(each, ledger, places, (index) => idOf(run, index));
            expect({ step: each, isAllowed }).toEqual({ step: each, isAllowed: true });
          } catch (error) {
            if (!(error instanceof ServiceError)) throw error;
            expect({ step: each, isAllowed, reason: error.reason }).toEqual({
              step: each,
              isAllowed: false,
              reason: "QUOTA_EXCEEDED",
            });
          }
          expect(await readQuotas(shared(), first)).toEqual(model.quotas());
        }
      },
    );
    await fc.assert(property, fuzzParameters(8));
    // About an eighth is refused. By chance, never none.
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.made).toBeGreaterThan(counts.refused / 20);
  },
  soakTimeoutMs,
);

async function make(
  each: Step,
  ledger: ReturnType<typeof ledgerOn>,
  places: readonly LedgerPlace[],
  id: (index: number) => string,
): Promise<void> {
  if (each.kind === "limit") {
    return setLimit(shared(), required(places[each.place]), each.level, each.of, each.limit);
  }
  const place = required(places[each.resource >> 1]);
  switch (each.kind) {
    case "reserve":
      return ledger.reserve(place, id(each.resource), each.amounts);
    case "settle":
      return ledger.settle(place, id(each.resource), each.amounts);
    case "release":
      return ledger.release(place, id(each.resource));
  }
}
