import { Agent, request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpRequest } from "../load-http.ts";

interface Steadiness {
  readonly perSecond: number;
  readonly forMs: number;
  /** The address to connect from. */
  readonly localAddress: string;
}

export interface Asked {
  /** Of each answer, from when its request was due, in milliseconds. */
  readonly taken: readonly number[];
  /** By how much requests were sent late, in milliseconds: what the load itself waited for the processor. */
  readonly late: readonly number[];
  /** What was answered with an error, or not at all. */
  readonly failures: readonly string[];
}

/** What a request may take before it counts as a failure, in milliseconds. */
const patienceMs = 5_000;

/**
 * Sends requests at a fixed rate, whether or not those before are answered, as a number of independent clients does. Times are
 * counted from when a request was due, so that none of the waiting is left out.
 */
export async function askSteadily(
  url: string,
  next: () => HttpRequest,
  { perSecond, forMs, localAddress }: Steadiness,
): Promise<Asked> {
  const agent = new Agent({ keepAlive: true, localAddress });
  const [taken, late, failures]: [number[], number[], string[]] = [[], [], []];
  const startedAt = performance.now();
  const count = Math.round((forMs / 1000) * perSecond);
  const asked: Promise<void>[] = [];
  const ask = async (dueAt: number): Promise<void> => {
    late.push(performance.now() - dueAt);
    try {
      await send(url, next(), agent);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
    taken.push(performance.now() - dueAt);
  };
  for (let index = 0; index < count; index++) {
    const dueAt = startedAt + (index * 1000) / perSecond;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    asked.push(ask(dueAt));
  }
  await Promise.all(asked);
  agent.destroy();
  return { taken, late, failures };
}

/** @throws Error when the answer is not 200 or 201. */
function send(url: string, { method, path, headers, body }: HttpRequest, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, url), { method, headers, agent, timeout: patienceMs }, (response) => {
      const { statusCode = 0 } = response;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => {
        if (statusCode === 200 || statusCode === 201) resolve();
        else reject(new Error(`${statusCode}: ${text}`));
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${patienceMs} ms`)));
    sent.on("error", reject);
    sent.end(body);
  });
}
