// What a run tells an operator: what each step did to callers, which alerts fired, and what the dashboard showed before and after.
import type { Picture } from "./prometheus.ts";
import { type Step, describeFailures } from "./steps.ts";

export interface Report {
  readonly steps: readonly Step[];
  readonly acknowledged: number;
  readonly alerts: readonly string[];
  readonly before: Picture;
  readonly after: Picture;
}

/** Writes Markdown. Lines of the dashboard that were nothing before and after are left out. */
export function formatReport({ steps, acknowledged, alerts, before, after }: Report): string {
  const shown = (picture: Picture, line: string): string => picture.get(line) ?? "";
  const isNothing = (text: string): boolean => text === "" || text === "NaN" || Number(text) === 0;
  const lines = [...new Set([...before.keys(), ...after.keys()])]
    .map((line) => [line, shown(before, line), shown(after, line)])
    .filter(([, ...values]) => !values.every(isNothing));
  return [
    "# A week",
    "",
    `${acknowledged} writes were acknowledged. Alerts that fired: ${alerts.join(", ") || "none"}.`,
    "",
    ...table(["Step", "Seconds", "Longest time without a write", "Calls", "Failed"], steps.map(describeStep)),
    "",
    ...table(["Panel", "Line", "Before", "After"], lines),
    "",
  ].join("\n");
}

const describeStep = ({ name, seconds, pauseSeconds, calls, failures }: Step): string[] => [
  name,
  seconds.toFixed(1),
  `${pauseSeconds.toFixed(1)} s`,
  String(calls),
  describeFailures(failures),
];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}
