// What breaks, and when: a server is killed, paused, or loses its database without notice, and the database fails over.
import { setTimeout as sleep } from "node:timers/promises";
import type { Databases } from "./databases.ts";
import type { Window } from "./latencies.ts";
import type { Random } from "./random.ts";
import type { Server } from "./servers.ts";

export interface FaultOptions {
  readonly seconds: number;
  readonly killEvery: number;
  readonly failoverEvery: number;
  readonly servers: readonly Server[];
  readonly databases: Databases;
  readonly random: Random;
}

/** After a promotion, calls that waited for the former primary still end. */
const afterFailoverMs = 15_000;
/** How long the standby has heard nothing when the primary is killed: longer than the deadlines of calls. */
const silentMs = 7_000;
/** How long a paused server answers nothing. */
const pauseMs = 4_000;

/** How long HAProxy and the server itself take at most to find that connections are silent. */
const afterKillMs = 6_000;

/** When what was broken, until its calls have ended. */
export interface Faults {
  readonly failovers: readonly Window[];
  /** Kills, pauses and silent connections of servers. */
  readonly kills: readonly Window[];
}

/** Breaks things for a time. */
export async function injectFaults(options: FaultOptions): Promise<Faults> {
  const { seconds, killEvery, failoverEvery, databases, random } = options;
  const startedAt = Date.now();
  const failovers: Window[] = [];
  const pending: Promise<void>[] = [];
  const kills: Window[] = [];
  const note = (what: string): void =>
    console.log(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${what}`);

  const failOver = async (count: number): Promise<void> => {
    // In every second one, the standby has missed the last commits, which have waited for it.
    const silence = count % 2 === 1 ? silentMs : 0;
    const { killedAt, promotedAt } = await databases.failOver(silence);
    failovers.push({ from: killedAt - silence, to: promotedAt + afterFailoverMs });
    note(`the database failed over in ${promotedAt - killedAt} ms${silence > 0 ? ", after a silent replication" : ""}`);
  };

  for (let second = 1; second < seconds; second++) {
    await sleep(Math.max(0, startedAt + second * 1_000 - Date.now()));
    // In the middle of the interval, so that a short run has one, too.
    if (second % failoverEvery === Math.floor(failoverEvery / 2)) pending.push(failOver(failovers.length + 1));
    if (second % killEvery === 0) {
      kills.push({ from: Date.now(), to: Date.now() + afterKillMs });
      pending.push(breakServer(options, random, note));
    }
  }
  await Promise.all(pending);
  await databases.untilReplicated();
  return { failovers, kills };
}

async function breakServer({ servers }: FaultOptions, random: Random, note: (what: string) => void): Promise<void> {
  const server = random.pick(servers);
  if (server === undefined) return;
  switch (random.pick(["kill", "pause", "silence"] as const)) {
    case "kill":
      note(`kill ${server.name}`);
      return server.kill();
    case "pause":
      note(`pause ${server.name} for ${pauseMs / 1_000} s`);
      return server.pause(pauseMs);
    default:
      note(`silence the connections of ${server.name} to the database`);
      return server.silenceDatabase();
  }
}
