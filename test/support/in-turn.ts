// Tables of tests, one row for each resource or method, whose tests are the same for all rows.
import { hash } from "node:crypto";
import { beforeEach } from "vitest";
import { isOnNamedServer } from "./named-server.ts";
import { rounds } from "./rounds.ts";

/**
 * Runs every other test of the table that a `describe` has one row of: each test for every other row, and each row with about half
 * of the tests. The other half runs on a named server, so that `.ci/run` has all of them; so does `npm run soak`. What is in the
 * table must not depend on the server, but for the protocol.
 *
 * @param row the number of the row in the table; any, if the rows have tests of different names.
 * @param every for a long table, that a run on the embedded server has one of so many tests, and one on a named server the others.
 */
export function runInTurn(row: number, every = 2): void {
  if (rounds(false, true)) return;
  beforeEach(({ task, skip }) => {
    const isFirst = (row + hash("sha1", task.name, "buffer").readUInt8()) % every === 0;
    skip(isFirst === isOnNamedServer, "in turn: it runs on the other PostgreSQL");
  });
}
