import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import type { Config } from "../config.ts";
import { createSampler } from "../tracing/sampler.ts";
import type { Tracing } from "../tracing/tracing.ts";

/** A collector that is away fails each few seconds. */
const warnAfterMs = 60_000;

/** Returns undefined if nothing is traced. The SDK is loaded only if something is. */
export async function composeTracing({ traces }: Pick<Config, "traces">, logger: Logger): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined;
  const { openTracing } = await import("../tracing/open-tracing.ts");
  let warnedAt = -Infinity;
  const onFailure = (err: Error): void => {
    const now = performance.now();
    if (now - warnedAt < warnAfterMs) return;
    warnedAt = now;
    logger.warn({ err }, "failed to send traces; calls are not affected");
  };
  const sampler = createSampler(traces.sampler, traces.share);
  return openTracing({ url: traces.url, sampler, version: packageJson.version, onFailure });
}
