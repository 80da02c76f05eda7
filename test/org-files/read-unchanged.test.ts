import { expect, test } from "vitest";
import { ServiceError } from "../../src/errors/service-error.ts";
import { readUnchanged } from "../../src/org-files/read-state.ts";

/** Reads an org that changes this often while it is read. Returns how often it was read, and what that has ended with. */
async function readWhile(changeCount: number) {
  let count = 0;
  const result = await readUnchanged({ by: "name", value: "acme" }, async () =>
    count++ < changeCount ? undefined : "read",
  ).catch((error: unknown) => (error instanceof ServiceError ? error.reason : "another error"));
  return [count, result];
}

test("an org is read until it does not change meanwhile, five times at most", async () => {
  expect(await readWhile(0)).toEqual([1, "read"]);
  expect(await readWhile(4)).toEqual([5, "read"]);
  expect(await readWhile(1_000)).toEqual([5, "ETAG_STALE"]);
});
