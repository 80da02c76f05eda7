import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { importInto, total } from "./support/import-into.ts";
import { readOrg } from "./support/read-org.ts";
import { temporaryFile } from "./support/temporary-file.ts";

const windowMs = 500;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ rateReadsPerCaller: 1, rateWritesPerCaller: 1 }, { rateWindowMs: windowMs });
});
afterAll(() => server.close());

test("an import waits for a strict rate limit, and creates everything", async () => {
  const members = Array.from({ length: 12 }, (_, index) => `m${index}`);
  const groups = members.map((member) => ({ name: `${member}s`, members: [member] }));
  const file = await temporaryFile("org.json", JSON.stringify({ org: "patient", members, groups }));
  const startedAt = performance.now();
  const outcome = await importInto(server, file);
  const resources = 1 + 3 * members.length;
  // The members, the groups and the memberships are a batch each.
  const requests = 1 + 1 + 1 + 1;
  expect(outcome.end).toBeUndefined();
  expect(total(outcome)).toEqual({ created: resources, existing: 0, missing: 0 });
  expect((await readOrg(server.databaseUrl, "patient")).memberships).toHaveLength(members.length);
  // All requests after the first had to wait.
  expect(performance.now() - startedAt).toBeGreaterThan((requests - 2) * windowMs);
});
