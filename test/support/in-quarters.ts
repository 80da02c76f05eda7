// Long tables of tests, one row for each resource, whose tests are the same for all rows.
import { hash } from "node:crypto";
import { beforeEach } from "vitest";
import { isOnNamedServer } from "./named-server.ts";
import { rounds } from "./rounds.ts";

/**
 * Like `runInTurn`, for long tables: a run on the embedded server has a quarter of the tests, each with another quarter of the rows,
 * and one on a named server has the other three quarters. `npm run soak` has them all.
 *
 * @param row the number of the row in the table; any, if the rows have tests of different names.
 */
export function runInQuarters(row: number): void {
  if (rounds(false, true)) return;
  beforeEach(({ task, skip }) => {
    const isFirst = (row + hash("sha1", task.name, "buffer").readUInt8()) % 4 === 0;
    skip(isFirst === isOnNamedServer, "in turn: it runs on the other PostgreSQL");
  });
}
