// The mixed load: some callers in each org, each of which does one thing after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { createApi } from "../../test/support/api.ts";
import { type Protocol, protocols } from "../../test/support/transports.ts";
import { createAccessWork } from "./access-work.ts";
import { createCaller } from "./caller.ts";
import { collectionsOf } from "./collections.ts";
import type { Findings } from "./findings.ts";
import { type History, createHistory } from "./history.ts";
import type { Latencies } from "./latencies.ts";
import type { LoadedOrg } from "./orgs.ts";
import { createPeer } from "./peers.ts";
import { type Random, createRandom } from "./random.ts";
import { createThingWork } from "./thing-work.ts";

export interface LoadOptions {
  /** Of the proxy. */
  readonly url: string;
  /** The URLs of the servers by their names. */
  readonly servers: readonly { readonly name: string; readonly url: string }[];
  readonly orgs: readonly LoadedOrg[];
  readonly seed: number;
  readonly latencies: Latencies;
  readonly findings: Findings;
}

export interface Load {
  /** What each org must have, in the order of the orgs. */
  readonly histories: readonly History[];
  /** The number of calls, and of those that failed by what they failed with. */
  readonly calls: () => number;
  readonly failures: ReadonlyMap<string, number>;
  /** Lets the callers end what they do. */
  stop(): Promise<void>;
}

/** Between two things that a caller does, in milliseconds. */
const longestPauseMs = 600;

export function startLoad({ url, servers, orgs, seed, latencies, findings }: LoadOptions): Load {
  let isStopped = false;
  let calls = 0;
  const failures = new Map<string, number>();
  const caller = createCaller({
    findings,
    note: (kind, startedAt, ms) => {
      calls++;
      latencies.add(kind, startedAt, ms);
    },
    count: (failure) => void failures.set(failure, (failures.get(failure) ?? 0) + 1),
  });

  const work = async (org: LoadedOrg, index: number, history: History): Promise<void> => {
    const prefix = `${org.name}-${index}`;
    const random = createRandom(seed, prefix);
    for (const step of drawSteps(org, index, history, random, prefix)) {
      if (isStopped) return;
      await step();
      await sleep(random.below(longestPauseMs));
    }
  };

  function* drawSteps(org: LoadedOrg, index: number, history: History, random: Random, prefix: string) {
    const ground = org.grounds[index];
    if (ground === undefined) return;
    const api = createApi(protocolOf(random), url, org.key);
    const peers = [...servers, { name: "the proxy", url }].map((server) =>
      createPeer(server.name, server.url, org.key),
    );
    const shared = { prefix, caller, history, random, findings };
    const things = createThingWork({ ...shared, collections: collectionsOf(api, org.path) });
    const access = createAccessWork({ ...shared, ...ground, org: org.path, api, peers });
    const steps = [...things.steps, ...access.steps].flatMap(([weight, step]) => Array(weight).fill(step) as Step[]);
    for (;;) {
      const step = random.pick(steps);
      if (step !== undefined) yield step;
    }
  }

  const histories = orgs.map(() => createHistory());
  const workers = orgs.flatMap((org, position) =>
    org.grounds.map((_ground, index) => work(org, index, histories[position] ?? createHistory())),
  );
  return {
    histories,
    calls: () => calls,
    failures,
    async stop() {
      isStopped = true;
      await Promise.all(workers);
    },
  };
}

type Step = () => Promise<void>;

/** Most callers use REST. */
function protocolOf(random: Random): Protocol {
  return random.chance(0.5) ? "REST" : (random.pick(protocols) ?? "REST");
}
