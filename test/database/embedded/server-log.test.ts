import { describe, expect, test } from "vitest";

import { createServerLog } from "../../../src/database/embedded/server-log.ts";

describe("the server's log", () => {
  test.for([
    ["client backend|23505|ERROR:  duplicate key value", undefined],
    ['client backend|28000|FATAL:  Peer authentication failed for user "tenantry"', "error"],
    ["client backend|53100|ERROR:  could not extend file: No space left on device", "error"],
    ["client backend|XX001|ERROR:  invalid page in block 0", "error"],
    ["client backend|57P01|FATAL:  terminating connection due to administrator command", undefined],
    ["autovacuum worker|22012|ERROR:  division by zero", "error"],
    ["checkpointer|58030|PANIC:  could not fsync file", "error"],
    ["client backend|57P02|WARNING:  terminating connection because of crash", "warn"],
    ["postmaster|00000|LOG:  database system is ready to accept connections", undefined],
    ["client backend|00000|DETAIL:  Key (x)=(1) already exists.", undefined],
    ["a line without a prefix", undefined],
  ] as const)("%s → %s", ([line, expected]) => {
    const levels: string[] = [];
    const log = createServerLog((level) => levels.push(level));
    log.expectSessions = true;
    log.write(line);
    expect(levels).toEqual(expected === undefined ? [] : [expected]);
  });

  test("does not report sessions that are rejected or ended while the server starts or stops", () => {
    const levels: string[] = [];
    createServerLog((level) => levels.push(level)).write("walwriter|57P01|FATAL:  terminating background worker");
    expect(levels).toEqual([]);
  });

  test("keeps the last thirty lines for the error about an early exit", () => {
    const log = createServerLog(() => {});
    for (let line = 1; line <= 40; line++) log.write(`postmaster|00000|LOG:  ${line}`);
    expect(log.tail().split("\n")).toEqual(Array.from({ length: 30 }, (_, index) => `LOG: ${index + 11}`));
  });
});
