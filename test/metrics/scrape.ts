/** A line of a scrape. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scraped {
  readonly text: string;
  /** By the name of a metric: `counter`. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** Returns the value of a series; undefined if there is none. */
  valueOf(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

/** Scrapes a server. @throws Error when a line is neither a comment nor a value with its labels. */
export async function scrape(metricsUrl: string): Promise<Scraped> {
  const response = await fetch(`${metricsUrl}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const lines = text.split("\n");
  const types = lines.flatMap((line) => {
    const [, name = "", type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    return name === "" ? [] : [[name, type] as const];
  });
  const samples = lines.filter((line) => line !== "" && !line.startsWith("#")).map(readSample);
  return {
    text,
    types: new Map(types),
    samples,
    valueOf: (name, labels = {}) =>
      samples.find(
        (sample) =>
          sample.name === name &&
          Object.keys(sample.labels).length === Object.keys(labels).length &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )?.value,
  };
}

function readSample(line: string): Sample {
  const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
  const pairs = Array.from(
    labels.matchAll(/(\w+)="([^"\\]*)"/g),
    ([, label = "", text = ""]) => [label, text] as const,
  );
  return { name, labels: Object.fromEntries(pairs), value: value === "+Inf" ? Infinity : Number(value) };
}
