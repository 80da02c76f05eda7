// A real Prometheus scrapes a running service, and answers questions about it.
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { startTestServer } from "../support/test-server.ts";
import { hasPrometheus, startPrometheus } from "./start-prometheus.ts";

test.skipIf(!hasPrometheus)("a Prometheus that scrapes a service answers what it is asked about it", async () => {
  const server = await startTestServer({ metricsPort: 0 });
  onTestFinished(() => server.close());
  const ask = await startPrometheus([new URL(server.metricsUrl).host]);
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
