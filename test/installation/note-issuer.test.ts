// Tests that servers on one database notice that they do not accept each other's tokens.
import { expect, onTestFinished, test } from "vitest";
import { type TestServer, startTestServer } from "../support/test-server.ts";

const warnings = ({ logLines }: TestServer): unknown[] =>
  logLines
    .map((line) => JSON.parse(line) as { readonly level: number; readonly msg: string })
    .filter(({ msg }) => msg.includes("TENANTRY_ISSUER"));

async function start(overrides: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(overrides);
  onTestFinished(() => server.close());
  return server;
}

test("a server warns if the one that started before had another issuer, and names both and the setting", async () => {
  const first = await start({});
  const { databaseUrl } = first;
  const second = await start({ databaseUrl });
  const issuers = [second, first].map(({ url }) => `http://localhost:${new URL(url).port}`);
  expect(warnings(first)).toEqual([]);
  expect(warnings(second)).toEqual([
    expect.objectContaining({
      level: 40,
      issuer: issuers[0],
      before: issuers[1],
      msg: expect.stringContaining("Set "),
    }),
  ]);
  const [old, next] = ["https://iam.example.com", "https://id.example.com"];
  const counts: number[] = [];
  // All get the same issuer, and then a new one.
  for (const issuer of [old, old, next, next]) counts.push(warnings(await start({ databaseUrl, issuer })).length);
  expect(counts).toEqual([1, 0, 1, 0]);
});
