// Writes to one server without a pause, to see for how long none succeeds, and asks it about access that was revoked.
import { setTimeout as sleep } from "node:timers/promises";
import { createApi } from "../../test/support/api.ts";
import { createCaller } from "../chaos/caller.ts";
import { createPeer } from "../chaos/peers.ts";
import type { Findings } from "../chaos/findings.ts";
import type { LoadedOrg } from "../chaos/orgs.ts";

export interface Probe {
  readonly server: string;
  /** Returns the longest time without a successful write since then, in milliseconds. */
  longestGap(since: number): number;
  /** Waits until a write succeeds that began now. */
  untilWritten(): Promise<void>;
  /**
   * From now on, every answer that this member has the access is wrong. Asks with the key of an org. Returns a function that ends this,
   * with the number of answers that denied it.
   */
  expectDenied(key: string, subjectPath: string, resourcePath: string): () => Promise<number>;
  stop(): Promise<void>;
}

const pauseMs = 100;
const permission = "compute.instances.start";

export function startProbe(server: string, url: string, { path, key }: LoadedOrg, findings: Findings): Probe {
  const api = createApi("REST", url, key);
  const caller = createCaller({ findings, note: () => {}, count: () => {} });
  const written: { readonly startedAt: number; readonly endedAt: number }[] = [];
  const stopping = new AbortController();
  const writing = (async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const call = { path, org: { description: `probe ${startedAt}` } };
      const { kind } = await caller.once("write", `probe ${server}`, (options) => api.orgs.updateOrg(call, options));
      if (kind === "done") written.push({ startedAt, endedAt: Date.now() });
      await sleep(pauseMs);
    }
  })();
  return {
    server,
    longestGap(since) {
      const times = [since, ...written.map(({ endedAt }) => endedAt).filter((time) => time > since), Date.now()];
      return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
    },
    async untilWritten() {
      const now = Date.now();
      for (const end = now + 90_000; Date.now() < end; await sleep(pauseMs))
        if (written.some(({ startedAt }) => startedAt >= now)) return;
      findings.add("a call did not succeed in time after many tries", `${server} has not written for 90 s`);
    },
    expectDenied(ownKey, subjectPath, resourcePath) {
      const { access } = createPeer(server, url, ownKey);
      const ending = new AbortController();
      let denials = 0;
      const asking = (async (): Promise<void> => {
        for (; !ending.signal.aborted; await sleep(pauseMs / 5)) {
          const outcome = await caller.once("read", `check on ${server}`, (options) =>
            access.checkAccess({ subjectPath, resourcePath, permission }, options),
          );
          if (outcome.kind !== "done") continue;
          if (!outcome.value.allowed) denials++;
          else findings.add("a decision is wrong", `${server} allows ${subjectPath} what was revoked before`);
        }
      })();
      return async () => {
        ending.abort();
        await asking;
        return denials;
      };
    },
    async stop() {
      stopping.abort();
      await writing;
    },
  };
}
