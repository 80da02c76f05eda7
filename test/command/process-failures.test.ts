// Tests what becomes of failures that no code of the service waits for, in the real command.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scrape } from "../metrics/scrape.ts";
import { createApi } from "../support/api.ts";
import { makePrivateFolder, serveTenantry } from "../support/command.ts";

/** Makes the process fail when it is told to, as a defect of it would. */
const defects = `
process.on("SIGUSR2", () => {
  for (let count = 0; count < 25; count++) void Promise.reject(new Error("a defect that nothing waits for"));
});
process.on("SIGWINCH", () => setImmediate(() => { throw new Error("a defect that nothing catches"); }));
`;

async function serve() {
  const { folder, remove } = await makePrivateFolder(undefined, { withCluster: true });
  onTestFinished(remove);
  const file = join(folder, "defects.mjs");
  writeFileSync(file, defects);
  const env = { HOME: folder, NODE_OPTIONS: `--import=${file}`, TENANTRY_METRICS_PORT: "0" };
  const served = await serveTenantry({ cwd: folder, env });
  onTestFinished(() => void served.signal("SIGKILL").catch(() => undefined));
  const [, metricsUrl = ""] = /metrics are at (http:[^"]+)\/metrics/.exec(served.output.stdout) ?? [];
  const api = createApi("Connect", served.url, readFileSync(join(folder, "data/operator-key"), "utf8").trim());
  return { served, api, metricsUrl };
}

const linesWith = (text: string, part: string): number => text.split("\n").filter((line) => line.includes(part)).length;

test("a failure that nothing waits for is logged and counted, and the service goes on", async () => {
  const { served, api, metricsUrl } = await serve();
  const counted = async () => (await scrape(metricsUrl)).valueOf("tenantry_unhandled_rejections_total");
  expect(await counted()).toBe(0);
  process.kill(served.pid, "SIGUSR2");
  await expect.poll(counted).toBe(25);
  await api.orgs.createOrg({ org: { name: "acme" } });
  // By its end, all that it has logged was read.
  expect(await served.signal("SIGTERM")).toBe(0);
  const { stdout } = served.output;
  // With where it was made; of many in a minute, not all.
  expect(stdout).toMatch(/"level":50.*a defect that nothing waits for.*defects\.mjs/);
  expect(linesWith(stdout, "nothing waits for what has failed")).toBe(20);
});

test("an error that nothing catches ends the service as a stop does, with a code that says so", async () => {
  const { served } = await serve();
  expect(await served.signal("SIGWINCH")).toBe(1);
  const { stdout } = served.output;
  expect(stdout).toMatch(/"level":60.*a defect that nothing catches/);
  expect(stdout).toContain('"msg":"stopped"');
});
