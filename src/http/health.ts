import { setTimeout as sleep } from "node:timers/promises";

/** Throws when what it checks does not work. */
type HealthCheck = () => Promise<void>;

export interface HealthOptions {
  /** What has to work for the server to be ready; the names are shown to callers: `database`. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly checkTimeoutMs: number;
  /** Hears why a check failed, which callers are not told. */
  readonly onCheckFailed?: (name: string, error: unknown) => void;
}

/** Whether this server should be given requests. It is asked over HTTP (`health-pages.ts`) and gRPC. */
export interface Health {
  /**
   * What keeps the server from being ready: a plain sentence by the name of each failed check. Empty when it is ready.
   * However many ask, a check runs once at a time.
   */
  obstacles(): Promise<Readonly<Record<string, string>>>;
  /** From now on the server is not ready, and streams about its health end. */
  startDraining(): void;
  /** Aborted when draining starts. */
  readonly draining: AbortSignal;
}

export function createHealth({ checks, checkTimeoutMs, onCheckFailed }: HealthOptions): Health {
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

  /** Joins the run that is under way, so that a check that hangs is not started over and over. */
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

  return { obstacles, startDraining: () => draining.abort(), draining: draining.signal };
}

/** Whether a promise fulfils in time; rejects when it does. */
async function endsWithin(milliseconds: number, promise: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), sleep(milliseconds, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
