// Turns rows of panels into the JSON of a Grafana dashboard.

export interface Panel {
  readonly title: string;
  /** A number, or lines over time. Default: `timeseries`. */
  readonly kind?: "stat" | "timeseries";
  /** A unit of Grafana, such as `s`. Default: numbers without a unit. */
  readonly unit?: string;
  /** Expressions of Prometheus, each with the name of its lines. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
  /** What a reader must know who sees the panel for the first time. */
  readonly help?: string;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
  /** Whether its panels are numbers at the top, without a heading. */
  readonly isTop?: boolean;
}

const datasource = { type: "prometheus", uid: "${datasource}" };

/** The width of a dashboard, in columns of Grafana. */
const width = 24;

export function writeDashboard(rows: readonly Row[]): string {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own, isTop = false } of rows) {
    if (!isTop)
      panels.push({
        id: panels.length + 1,
        type: "row",
        title,
        collapsed: false,
        gridPos: { x: 0, y: y++, w: width, h: 1 },
        panels: [],
      });
    const columns = isTop ? own.length : 2;
    const height = isTop ? 4 : 8;
    for (const [index, panel] of own.entries()) {
      const w = width / columns;
      const gridPos = { x: (index % columns) * w, y: y + Math.floor(index / columns) * height, w, h: height };
      panels.push(toPanel(panel, panels.length + 1, gridPos));
    }
    y += Math.ceil(own.length / columns) * height;
  }
  return `${JSON.stringify({ ...frame, panels }, undefined, 2)}\n`;
}

function toPanel(
  { title, kind = "timeseries", unit = "short", queries, help }: Panel,
  id: number,
  gridPos: object,
): object {
  return {
    id,
    type: kind,
    title,
    ...(help !== undefined && { description: help }),
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      kind === "stat"
        ? { textMode: unit === "short" && queries[0]?.[1].startsWith("{{") ? "value_and_name" : "auto" }
        : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(([expression, legendFormat], index) => ({
      refId: "ABCDEFGH".charAt(index),
      datasource,
      expr: expression
        .replaceAll("SERVERS", 'job=~"$job",instance=~"$instance"')
        .replaceAll("RATE", "$__rate_interval"),
      legendFormat,
    })),
  };
}

const valuesOf = (name: string, label: string, query: string): object => ({
  name,
  label,
  type: "query",
  datasource,
  query: { query, refId: name },
  definition: query,
  includeAll: true,
  multi: true,
  refresh: 2,
  sort: 1,
  current: { selected: true, text: ["All"], value: ["$__all"] },
});

const frame = {
  uid: "tenantry",
  title: "Tenantry",
  tags: ["tenantry"],
  schemaVersion: 39,
  editable: true,
  refresh: "30s",
  time: { from: "now-1h", to: "now" },
  annotations: { list: [] },
  templating: {
    list: [
      { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus", refresh: 1 },
      valuesOf("job", "Service", "label_values(tenantry_build_info, job)"),
      valuesOf("instance", "Server", 'label_values(tenantry_build_info{job=~"$job"}, instance)'),
    ],
  },
};
