// The dashboard and the rules of deploy/, asked of a real Prometheus.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { rows } from "../../scripts/dashboard/rows.ts";
import { writeDashboard } from "../../scripts/dashboard/write-dashboard.ts";
import { answerWith, startReceiver, webhookNetworks } from "../events/webhooks/receiver.ts";
import { readConfig } from "../../src/config.ts";
import { type Api, createApi } from "../support/api.ts";
import { startSilentProxy } from "../support/silent-proxy.ts";
import { openSqlClient } from "../support/sql.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type AlertCase, alertCases } from "./alert-cases.ts";
import { hasPrometheus, startPrometheus } from "./start-prometheus.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
}

const rulesFile = "deploy/prometheus/rules.yaml";
const { groups } = parse(read(rulesFile)) as { groups: readonly { name: string; rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);

const dashboard = JSON.parse(read("deploy/grafana/dashboard.json")) as {
  panels: readonly { id: number; title: string; targets?: readonly { expr: string }[] }[];
};

test("the dashboard is what scripts/dashboard.ts writes, and its panels have ids of their own", () => {
  expect(read("deploy/grafana/dashboard.json")).toBe(writeDashboard(rows));
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test("each alert has a case that causes it", () => {
  expect(Object.keys(alertCases)).toEqual(alerts);
});

test.skipIf(!hasPrometheus)("promtool finds each alert where its case causes it, and nowhere else", () => {
  const directory = mkdtempSync(join(tmpdir(), "tenantry-rules-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const inputOf = (series: AlertCase["series"]) =>
    Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const records = rules.filter(({ record }) => record !== undefined);
  const files = Object.entries(alertCases).map(([alert, { series, at, before, quiet }]) => {
    const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
    const ask = (time: string, labels: readonly { labels: string; value: number }[] = []) => ({
      expr,
      eval_time: time,
      exp_samples: labels,
    });
    const tests = [
      {
        name: "caused",
        input_series: inputOf(series),
        promql_expr_test: [ask(before), ask(at, [{ labels: "{}", value: 1 }])],
      },
      { name: "quiet", input_series: inputOf(quiet), promql_expr_test: [ask(at)] },
    ].map((each) => ({ interval: "1m", ...each }));
    // With the other alerts, it would take several times as long.
    const own = join(directory, `${alert}.yaml`);
    const group = { name: alert, rules: [...records, ...rules.filter((rule) => rule.alert === alert)] };
    writeFileSync(own, JSON.stringify({ groups: [group] }));
    const file = join(directory, `${alert}.test.yaml`);
    // A day of minutes takes seconds.
    const evaluated = Number.parseInt(at, 10) > 400 ? "5m" : "1m";
    writeFileSync(file, JSON.stringify({ rule_files: [own], evaluation_interval: evaluated, tests }));
    return file;
  });
  const checked = spawnSync("promtool", ["test", "rules", ...files], { encoding: "utf8" });
  expect(checked.stdout + checked.stderr).not.toContain("FAILED");
  expect(checked.status).toBe(0);
});

/** The rules, but quick: a minute is a second, so that what fails each second exceeds a number within minutes. */
const quick = {
  groups: groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      ...(rule.for !== undefined && { for: "0s" }),
      expr: rule.expr.replaceAll(/\[(\d+)m\]/g, "[$1s]").replaceAll(/\[\d+h\]/g, "[60s]"),
    })),
  })),
};

test.skipIf(!hasPrometheus)(
  "a service answers each question of the dashboard and the rules, and trouble is noticed",
  async () => {
    const { url, drop } = await createTestDatabase();
    onTestFinished(() => drop());
    const proxy = await startSilentProxy(url);
    onTestFinished(() => proxy.close());
    // Groups beyond ten are refused.
    const limits = { ...readConfig({}).limits, Group: 10 };
    const server = await startTestServer({
      metricsPort: 0,
      databaseUrl: proxy.url,
      webhookNetworks,
      writeConnections: 1,
      limits,
    });
    onTestFinished(() => server.close());
    const ask = await startPrometheus([new URL(server.metricsUrl).host, "127.0.0.1:1"], quick);
    const api = createApi("REST", server.url, server.operatorKey);
    const { url: receiver } = await startReceiver(answerWith(500));
    await api.orgs.createOrg({ org: { name: "acme" } });
    await api.webhooks.createWebhook({ parentPath: "orgs/acme", webhook: { name: "audit", url: receiver } });

    await api.groups.createGroup({ parentPath: "orgs/acme", group: { name: "first" } });
    const state = { isBusy: true, wasReady: true };
    const load = keepBusy(server, api, state);
    const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => [title, expr] as const),
    );
    const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [[record, record] as const]));
    for (const [title, expression] of [...panels, ...recorded]) {
      const query = expression.replaceAll("$__rate_interval", "10s").replaceAll(/"\$(?:job|instance)"/g, '".*"');
      const values = async (): Promise<readonly number[]> => (await ask(query)).map(([, value]) => value);
      await expect
        .poll(async () => (await values()).some((value) => Number.isFinite(value)), { message: `${title}: ${query}` })
        .toBe(true);
    }

    // Writes wait for an org that is locked, and for the only connection.
    const sql = await openSqlClient(url);
    await sql.query("begin; select from orgs for update");
    const waiting = Array.from({ length: 5 }, (_, index) =>
      api.groups.createGroup({ parentPath: "orgs/acme", group: { name: `waits-${index}` } }).catch(() => undefined),
    );
    const firing = async (): Promise<readonly string[]> => {
      const found = await ask('max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[10m]))');
      return found.map(([labels]) => labels["alertname"] ?? "");
    };
    await expect.poll(firing).toContain("TenantryConnectionsShort");
    await sql.query("rollback");
    await sql.close();
    await Promise.all(waiting);
    await expect
      .poll(firing)
      .toEqual(expect.arrayContaining(["TenantryCallsRefused", "TenantryWebhooksFail", "TenantryDown"]));
    const found = await firing();
    // On a busy machine, the database may answer the check of a server too late.
    if (state.wasReady) expect(found).not.toContain("TenantryNotReady");
    proxy.close();
    await expect
      .poll(firing)
      .toEqual(expect.arrayContaining(["TenantryNotReady", "TenantryCallsFail", "TenantryJobFails"]));
    state.isBusy = false;
    await load;
    const words = (await ask('ALERTS{alertstate="firing",alertname="TenantryJobFails"}')).map(
      ([labels]) => labels["job_name"],
    );
    expect(words).not.toContain(undefined);
  },
);

/** Calls the service a few times a second, over each protocol, and fails in some of them. Notes whether it was always ready. */
async function keepBusy(
  { url, operatorKey }: TestServer,
  api: Api,
  state: { readonly isBusy: boolean; wasReady: boolean },
): Promise<void> {
  const grpc = createApi("gRPC", url, operatorKey);
  for (let count = 0; state.isBusy; count++) {
    await Promise.allSettled([
      grpc.orgs.getOrg({ path: "orgs/acme" }),
      api.orgs.getOrg({ path: "orgs/acme" }),
      api.groups.createGroup({ parentPath: "orgs/acme", group: { name: `group-${count}` } }),
      api.groups.updateGroup({ path: "orgs/acme/groups/first", group: { description: `${count}` } }),
      api.groups.listGroups({ parentPath: "orgs/acme" }),
      fetch(`${url}/readyz`).then(({ status }) => (state.wasReady &&= status === 200)),
    ]);
    await sleep(100);
  }
}
