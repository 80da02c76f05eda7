// A pool of Vitest that keeps its process from one run to the next. Mutants are switched on inside of the compiled code, so a new
// process for each, which loads a thousand modules again, would only cost seconds.
import { ForksPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from "vitest/node";

type Listener = (...args: unknown[]) => void;

/** A process grows with its runs: what the servers of the tests leave behind adds up. */
const maxRuns = 200;

export interface KeptPool {
  readonly name: string;
  createPoolWorker(options: PoolOptions): PoolWorker;
}

/** @param mustLoad reports whether a run needs a process in which nothing is loaded, and which no other run may use after it. */
export function createKeptPool(mustLoad: (options: PoolOptions) => boolean): KeptPool & { drop(): Promise<void> } {
  let kept: { readonly worker: ForksPoolWorker; runs: number } | undefined;
  const name = "kept";

  const drop = async (): Promise<void> => {
    const dropped = kept;
    kept = undefined;
    await dropped?.worker.stop();
  };

  const keep = async (options: PoolOptions, isAlone: boolean): Promise<{ worker: ForksPoolWorker; isNew: boolean }> => {
    if (kept !== undefined && (kept.runs >= maxRuns || isAlone)) await drop();
    if (kept !== undefined) {
      kept.runs++;
      return { worker: kept.worker, isNew: false };
    }
    const worker = new ForksPoolWorker(options);
    await worker.start();
    worker.on("exit", () => {
      if (kept?.worker === worker) kept = undefined;
    });
    kept = { worker, runs: isAlone ? maxRuns : 1 };
    return { worker, isNew: true };
  };

  const createPoolWorker = (options: PoolOptions): PoolWorker => {
    const listeners: [event: string, listener: Listener][] = [];
    const isAlone = mustLoad(options);
    let worker: ForksPoolWorker | undefined;
    let isNew = true;

    /** Answers for the process what it would answer to a start or a stop, after which it would be of no more use. */
    const answer = (type: "started" | "stopped"): void => {
      for (const [event, listener] of listeners) {
        if (event === "message") setImmediate(listener, { __vitest_worker_response__: true, type });
      }
    };

    return {
      name,
      cacheFs: true,
      deserialize: (data) => data,
      async start() {
        ({ worker, isNew } = await keep(options, isAlone));
      },
      stop: () => Promise.resolve(),
      on(event, listener) {
        listeners.push([event, listener]);
        worker?.on(event, listener);
      },
      off(event, listener) {
        worker?.off(event, listener);
      },
      send(message: WorkerRequest) {
        if (message.type === "stop") {
          for (const [event, listener] of listeners) worker?.off(event, listener);
          return answer("stopped");
        }
        if (message.type === "start" && !isNew) return answer("started");
        // The configuration comes with the start, and names the tests to run.
        if (message.type === "run") Object.assign(message.context, { config: options.project.serializedConfig });
        worker?.send(message);
      },
    };
  };
  return { name, createPoolWorker, drop };
}
