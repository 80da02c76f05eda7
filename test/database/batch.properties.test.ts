import { setImmediate as nextTurn } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createBatcher } from "../../src/database/batch.ts";

/** The result of a lookup: its own key, and the time at which its statement was sent. */
interface Value {
  readonly key: number;
  readonly sentAt: number;
}

interface Statement {
  readonly keys: readonly number[];
  readonly end: () => void;
}

type Step =
  | { readonly do: "ask"; readonly times: number }
  | { readonly do: "turn" }
  | { readonly do: "end"; at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("ask" as const), times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant("turn" as const) }),
  fc.record({ do: fc.constant("end" as const), at: fc.nat(10) }),
);

test("in any sequence of events, each lookup gets one result, in order, from a statement that was sent after the call", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, maxKeys, maxStatements) => {
        const run = createRun(maxKeys, maxStatements);
        for (const next of steps) await run.take(next);
        const answers = await run.finish();

        expect(answers.map(({ value }) => value.key)).toEqual(answers.map(({ key }) => key));
        expect(answers.filter(({ askedAt, value }) => value.sentAt <= askedAt)).toEqual([]);
        expect(run.sentKeys).toEqual(answers.map(({ key }) => key));
        expect(run.largest).toBeLessThanOrEqual(maxKeys);
        expect(run.mostAtOnce).toBeLessThanOrEqual(maxStatements);
      },
    ),
    { numRuns: 300 },
  );
});

/** A batcher whose statements end in the steps of the test. Its clock ticks at every event. */
function createRun(maxKeys: number, maxStatements: number) {
  let clock = 0;
  let underWay: Statement[] = [];
  const asked: Promise<{ key: number; askedAt: number; value: Value }>[] = [];
  const run = { sentKeys: [] as number[], largest: 0, mostAtOnce: 0, take, finish };

  const lookUp = createBatcher<number, Value>(
    (keys) =>
      new Promise((resolve) => {
        const sentAt = ++clock;
        const statement = { keys, end: () => resolve(keys.map((key) => ({ key, sentAt }))) };
        underWay.push(statement);
        run.sentKeys.push(...keys);
        run.largest = Math.max(run.largest, keys.length);
        run.mostAtOnce = Math.max(run.mostAtOnce, underWay.length);
      }),
    { maxKeys, maxStatements },
  );

  async function ask(): Promise<{ key: number; askedAt: number; value: Value }> {
    const key = asked.length;
    const askedAt = ++clock;
    return { key, askedAt, value: await lookUp(key) };
  }

  async function take(next: Step): Promise<void> {
    switch (next.do) {
      case "ask":
        for (let time = 0; time < next.times; time++) asked.push(ask());
        return;
      case "turn":
        await nextTurn();
        return;
      case "end": {
        const statement = underWay[next.at % Math.max(underWay.length, 1)];
        underWay = underWay.filter((other) => other !== statement);
        statement?.end();
      }
    }
  }

  async function finish() {
    // Each round ends at least one statement, and each statement has at least one key.
    for (let round = 0; round <= 2 * asked.length; round++) {
      await nextTurn();
      await take({ do: "end", at: 0 });
    }
    return Promise.all(asked);
  }

  return run;
}
