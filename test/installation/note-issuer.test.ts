// Tests that servers on one database notice that they do not accept each other's tokens.
import { expect, onTestFinished, test } from "vitest";
import { openSqlClient } from "../support/sql.ts";
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
  const sql = await openSqlClient(databaseUrl);
  onTestFinished(() => sql.close());
  const noted = async () => (await sql.query("select issuer from installation"))[0]?.["issuer"];
  const localOf = ({ url }: TestServer) => `http://localhost:${new URL(url).port}`;
  await expect.poll(noted).toBe(localOf(first));
  const second = await start({ databaseUrl });
  const warning = {
    level: 40,
    issuer: localOf(second),
    before: localOf(first),
    msg: expect.stringContaining("Set ") as string,
  };
  await expect.poll(() => warnings(second)).toEqual([expect.objectContaining(warning)]);
  const servers: TestServer[] = [];
  // All get the same issuer, and then a new one.
  for (const issuer of ["https://iam.example.com", "https://id.example.com"]) {
    servers.push(await start({ databaseUrl, issuer }));
    await expect.poll(noted).toBe(issuer);
    servers.push(await start({ databaseUrl, issuer }));
  }
  await expect.poll(() => servers.map((server) => warnings(server).length)).toEqual([1, 0, 1, 0]);
  expect(warnings(first)).toEqual([]);
});
