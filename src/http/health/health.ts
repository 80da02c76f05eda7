import { setTimeout as sleep } from "node:timers/promises";

type HealthCheck = () => Promise<void>;

export interface HealthOptions {
  /** The checks that must pass for the server to be ready. Callers see their names: `database`. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly checkTimeoutMs: number;
  /** Called with the reason of a failed check, which callers do not see. */
  readonly onCheckFailed?: (name: string, error: unknown) => void;
  /** Returns since when the server answers some calls from memory alone, though it is ready; undefined if it does not. */
  readonly staleSince?: () => Date | undefined;
}

/** The readiness of this server, which is served over HTTP (`health-pages.ts`) and gRPC. */
export interface Health {
  /**
   * Returns the reasons why the server is not ready: a sentence by the name of each failed check. Empty if the server is ready.
   * Concurrent calls share one run of a check.
   */
  obstacles(): Promise<Readonly<Record<string, string>>>;
  readonly staleSince: () => Date | undefined;
  /** Makes the server unready permanently, and ends health streams. */
  startDraining(): void;
  readonly draining: AbortSignal;
}

export function createHealth(options: HealthOptions): Health {
  const { checks, checkTimeoutMs, onCheckFailed, staleSince = () => undefined } = options;
  const draining = new AbortController();
  const running = new Map<string, Promise<void>>();

  async function obstacles(): Promise<Readonly<Record<string, string>>> {
    if (draining.signal.aborted) return { server: "The server is shutting down." };
    const found: Record<string, string> = {};
    await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const obstacle = await obstacleOf(name, check);
        if (obstacle !== undefined) found[name] = obstacle;
      }),
    );
    return found;
  }

  async function obstacleOf(name: string, check: HealthCheck): Promise<string | undefined> {
    try {
      if (await endsWithin(checkTimeoutMs, run(name, check))) return undefined;
      return `The ${name} check did not end within ${checkTimeoutMs} ms.`;
    } catch {
      return `The ${name} check failed.`;
    }
  }

  /** Joins a run in progress, so that a hanging check is not started repeatedly. */
  function run(name: string, check: HealthCheck): Promise<void> {
    const joined = running.get(name);
    if (joined !== undefined) return joined;
    const started = observed(name, check).finally(() => running.delete(name));
    running.set(name, started);
    return started;
  }

  async function observed(name: string, check: HealthCheck): Promise<void> {
    try {
      await check();
    } catch (error) {
      onCheckFailed?.(name, error);
      throw error;
    }
  }

  return { obstacles, staleSince, startDraining: () => draining.abort(), draining: draining.signal };
}

/** Whether a promise fulfils in time. Rejects if it rejects in time. */
async function endsWithin(milliseconds: number, promise: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), sleep(milliseconds, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
