// A real Prometheus scrapes a running service, and answers questions about it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startTestServer } from "../support/test-server.ts";

const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;

type Answer = (
  query: string,
) => Promise<readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]>;

test.skipIf(!hasPrometheus)("a Prometheus that scrapes a service answers what it is asked about it", async () => {
  const server = await startTestServer({ metricsPort: 0 });
  onTestFinished(() => server.close());
  const ask = await startPrometheus(new URL(server.metricsUrl).host);
  const { orgs } = createApi("gRPC", server.url, server.operatorKey);
  await orgs.createOrg({ org: { name: "acme" } });
  for (let count = 0; count < 100; count++) await orgs.getOrg({ path: "orgs/acme" });

  const calls = 'tenantry_calls_total{rpc_method="iam.v1alpha.OrgsService/GetOrg",rpc_response_status_code="OK"}';
  await expect.poll(() => ask(calls)).toMatchObject([[{ job: "tenantry", rpc_system_name: "grpc" }, 100]]);
  expect(await ask("up")).toMatchObject([[{ job: "tenantry" }, 1]]);
  expect(await ask("tenantry_build_info")).toMatchObject([[{ version: expect.any(String) }, 1]]);
  expect(await ask("sum by (pool) (tenantry_database_connections_limit)")).toHaveLength(4);

  // Each second, so that there is a rate.
  await orgs.getOrg({ path: "orgs/acme" });
  await expect.poll(() => ask(calls)).toMatchObject([[{}, 101]]);
  const rates = "sum by (rpc_method, le) (rate(rpc_server_call_duration_seconds_bucket[15s]))";
  const slowest = `histogram_quantile(0.99, ${rates}) > 0`;
  await expect
    .poll(() => ask(slowest))
    .toMatchObject([[{ rpc_method: "iam.v1alpha.OrgsService/GetOrg" }, expect.any(Number)]]);
  expect(await ask("rate(tenantry_database_statement_seconds_sum[15s]) > 0")).not.toEqual([]);
});

/** Starts Prometheus until the end of the test. Returns what asks it. */
async function startPrometheus(target: string): Promise<Answer> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-prometheus-"));
  const config = join(directory, "prometheus.yml");
  const scrape = { job_name: "tenantry", scrape_interval: "1s", static_configs: [{ targets: [target] }] };
  await writeFile(config, JSON.stringify({ scrape_configs: [scrape] }));
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${directory}/data`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn("prometheus", [...options, "--log.level=error"], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
  await expect
    .poll(() =>
      fetch(`http://${address}/-/ready`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  return async (query) => {
    const response = await fetch(`http://${address}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query }),
    });
    const { status, data, error } = (await response.json()) as QueryResponse;
    if (status !== "success") throw new Error(`${query}: ${error}`);
    return data.result.map(({ metric, value: [, value] }) => [metric, Number(value)]);
  };
}

interface QueryResponse {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly { metric: Record<string, string>; value: readonly [number, string] }[];
  };
}
