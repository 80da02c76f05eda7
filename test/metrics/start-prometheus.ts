// A Prometheus of Debian that scrapes running services.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";

export const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;

type Answer = (
  query: string,
) => Promise<readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]>;

/**
 * Starts Prometheus until the end of the test. Returns what asks it.
 *
 * @param targets where it scrapes each second: `127.0.0.1:9464`.
 * @param rules what a file of rules has, evaluated each second.
 */
export async function startPrometheus(targets: readonly string[], rules?: object): Promise<Answer> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-prometheus-"));
  const config = join(directory, "prometheus.yml");
  const scrape = { job_name: "tenantry", scrape_interval: "1s", static_configs: [{ targets }] };
  const global = { evaluation_interval: "1s" };
  const rule_files = rules === undefined ? [] : [join(directory, "rules.json")];
  await writeFile(config, JSON.stringify({ global, scrape_configs: [scrape], rule_files }));
  await writeFile(join(directory, "rules.json"), JSON.stringify(rules ?? {}));
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
