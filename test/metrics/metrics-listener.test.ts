// Tests the listener of metrics: where it is, and when it closes.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

test("metrics are served on an address of their own, from the start of the server to its end", async () => {
  const server = await startTestServer({ metricsPort: 0 });
  expect(server.metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(server.metricsUrl).not.toBe(server.url);
  expect(server.logLines.join("")).toContain(`metrics are at ${server.metricsUrl}/metrics`);
  expect((await fetch(`${server.metricsUrl}/metrics`)).status).toBe(200);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${server.metricsUrl}/healthz`)).status).toBe(404);
  await server.close();
  await expect(fetch(`${server.metricsUrl}/metrics`)).rejects.toThrow("fetch failed");
});

test("without TENANTRY_METRICS_PORT, nothing is served", async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  expect(server.metricsUrl).toBe("");
});

test("a server whose port for metrics is in use does not start, and names the settings", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { url: databaseUrl, drop } = await createTestDatabase();
  onTestFinished(() => drop());
  await expect(startTestServer({ metricsPort: port, databaseUrl })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: the port is in use by another program. ` +
      "Change the settings TENANTRY_METRICS_HOST and TENANTRY_METRICS_PORT.",
  );
});
