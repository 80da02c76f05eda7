import { describe, expect, test } from "vitest";
import { EmbeddedPostgresError } from "../../../src/database/embedded/embedded-postgres-error.ts";
import type { Server } from "../../../src/database/embedded/start-server.ts";
import { supervise } from "../../../src/database/embedded/supervise.ts";

const waits = { firstMs: 1, longestMs: 4 };

/** Starts that end with these outcomes, one after the other: a server that has ended, a failed start, or one that runs. */
function createStarts(outcomes: readonly ("ends" | "runs" | Error)[]) {
  let count = 0;
  let end = (): void => {};
  const start = (): Promise<Server> => {
    const outcome = outcomes[count++] ?? "runs";
    if (outcome instanceof Error) return Promise.reject(outcome);
    const exited =
      outcome === "ends"
        ? Promise.resolve("killed")
        : new Promise<string>((resolve) => (end = () => resolve("stopped")));
    return Promise.resolve({ pid: count, exited, stop: () => Promise.resolve(end()) });
  };
  return { start, count: () => count };
}

function createLog() {
  const waited: unknown[] = [];
  const log = (_level: string, _message: string, details?: Readonly<Record<string, unknown>>): void => {
    if (details !== undefined && "waitMs" in details) waited.push(details["waitMs"]);
  };
  return { waited, log };
}

const neverGivesUp = (error: Error): void => expect.unreachable(error.message);

describe("the supervisor of the embedded server", () => {
  test("starts it again for as long as it takes, at most at a longest interval", async () => {
    const full = new EmbeddedPostgresError("START_FAILED", "No space left on device");
    const starts = createStarts(["ends", "ends", ...Array.from({ length: 10 }, () => full), "runs"]);
    const { waited, log } = createLog();
    const supervised = await supervise(starts.start, log, neverGivesUp, waits);
    await expect.poll(starts.count).toBe(13);
    expect(waited).toEqual([0, 1, 2, ...Array<number>(9).fill(4)]);
    await supervised.stop();
    expect(starts.count()).toBe(13);
  });

  test("gives up when another process has the database", async () => {
    const taken = new EmbeddedPostgresError("IN_USE", "process 7 has it");
    const starts = createStarts(["ends", taken]);
    const given = await new Promise<Error>((resolve) => {
      void supervise(starts.start, createLog().log, resolve, waits);
    });
    expect(given).toMatchObject({ reason: "GAVE_UP", cause: taken });
    expect(starts.count()).toBe(2);
  });

  test("does not start it again when it is stopped during a wait", async () => {
    const starts = createStarts(["ends", "ends"]);
    const { waited, log } = createLog();
    const supervised = await supervise(starts.start, log, neverGivesUp, { firstMs: 60_000, longestMs: 60_000 });
    await expect.poll(() => waited).toEqual([0, 60_000]);
    await supervised.stop();
    expect(starts.count()).toBe(2);
  });
});
