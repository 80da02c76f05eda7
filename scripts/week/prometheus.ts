// A Prometheus that scrapes all servers, with the rules of deploy/, and what the dashboard would show.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Workplace, makeFolder } from "../chaos/processes.ts";
import { root } from "../chaos/servers.ts";
import { waitUntil } from "../chaos/wait-until.ts";
import { rows } from "../dashboard/rows.ts";

/** What a query of the dashboard was answered with, by its panel and its line. */
export type Picture = ReadonlyMap<string, string>;

export interface Prometheus {
  /** Scrapes one more server, and waits for its first metrics. */
  scrape(name: string, port: number): Promise<void>;
  /** Asks what the dashboard asks. */
  look(): Promise<Picture>;
  /** Returns the alerts that have fired. */
  alerts(): Promise<string[]>;
}

type Series = readonly { readonly metric: Record<string, string>; readonly value: readonly [number, string] }[];

/** @param targets ports where servers have their metrics, by the names of the servers. */
export async function startPrometheus(
  workplace: Workplace,
  port: number,
  targets: Readonly<Record<string, number>>,
): Promise<Prometheus> {
  const { directory } = workplace;
  const config = join(directory, "prometheus.yml");
  const targetsFile = join(directory, "targets.json");
  const scraped: { targets: string[]; labels: { instance: string } }[] = [];
  const addTarget = (instance: string, target: number): void => {
    scraped.push({ targets: [`127.0.0.1:${target}`], labels: { instance } });
    writeFileSync(targetsFile, JSON.stringify(scraped));
  };
  for (const [instance, target] of Object.entries(targets)) addTarget(instance, target);
  const settings = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    scrape_configs: [{ job_name: "tenantry", file_sd_configs: [{ files: [targetsFile], refresh_interval: "1s" }] }],
    rule_files: [join(root, "deploy/prometheus/rules.yaml")],
  };
  writeFileSync(config, JSON.stringify(settings));
  const data = makeFolder(join(directory, "prometheus"), undefined);
  const address = `127.0.0.1:${port}`;
  const options = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`];
  workplace.start("prometheus", "prometheus", [...options, "--log.level=warn"]);
  await waitUntil("Prometheus answers", async () => (await fetch(`http://${address}/-/ready`)).ok);

  const ask = async (query: string): Promise<Series> => {
    const response = await fetch(`http://${address}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query }),
    });
    const { data: answer, error } = (await response.json()) as { data?: { result: Series }; error?: string };
    if (answer === undefined) throw new Error(`${query}: ${error}`);
    return answer.result;
  };
  return {
    async scrape(name, target) {
      addTarget(name, target);
      await waitUntil(`${name} is scraped`, async () => (await ask(`up{instance="${name}"} == 1`)).length === 1);
    },
    async look() {
      const seen = new Map<string, string>();
      for (const { title, unit, queries } of rows.flatMap((row) => row.panels)) {
        for (const [expression, legend] of queries) {
          const answer = await ask(expression.replaceAll("SERVERS", 'job="tenantry"').replaceAll("RATE", "15s"));
          for (const { metric, value } of answer) {
            const line = legend.replaceAll(/\{\{(\w+)\}\}/g, (_text, label: string) => metric[label] ?? "");
            seen.set(`${unit === undefined ? title : `${title}, ${unit}`} | ${line}`, Number(value[1]).toPrecision(3));
          }
        }
      }
      return seen;
    },
    async alerts() {
      const fired = await ask('count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[2h]))');
      return fired.map(({ metric }) => metric["alertname"] ?? "").toSorted();
    },
  };
}
