// The steps of a run: how long each took, and what callers saw meanwhile.
import { loadavg } from "node:os";
import type { Load } from "../chaos/load.ts";
import type { Probe } from "../patroni/probe.ts";

export interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly calls: number;
  /** By what calls failed with. */
  readonly failures: Readonly<Record<string, number>>;
  /** The longest time without a write of a caller that writes without a pause. */
  readonly pauseSeconds: number;
}

export interface Steps {
  readonly done: readonly Step[];
  /** Does something under load, and waits until writes succeed again. */
  run(name: string, action: () => Promise<void>): Promise<void>;
}

export function createSteps(load: Load, probe: Probe): Steps {
  const done: Step[] = [];
  return {
    done,
    async run(name, action) {
      await probe.untilWritten();
      const startedAt = Date.now();
      const calls = load.calls();
      const before = new Map(load.failures);
      await action();
      await probe.untilWritten();
      const step = {
        name,
        seconds: (Date.now() - startedAt) / 1_000,
        calls: load.calls() - calls,
        failures: Object.fromEntries(
          Array.from(load.failures, ([failure, count]): [string, number] => [
            failure,
            count - (before.get(failure) ?? 0),
          ]).filter(([, count]) => count > 0),
        ),
        pauseSeconds: probe.longestGap(startedAt) / 1_000,
      };
      done.push(step);
      console.log(
        `${name}: ${step.seconds.toFixed(1)} s, no write for ${step.pauseSeconds.toFixed(1)} s at most, ${step.calls} calls, of which failed: ${describeFailures(step.failures)}; the load average is ${loadavg()[0]?.toFixed(1)}`,
      );
    },
  };
}

/** The most frequent first. */
export function describeFailures(failures: Step["failures"]): string {
  const sorted = Object.entries(failures).toSorted(([, one], [, other]) => other - one);
  return sorted.map(([failure, count]) => `${count} ${failure}`).join("; ") || "none";
}
