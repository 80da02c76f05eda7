// The process of the hostile load. It runs one way at a time, as its parent says.
import { setTimeout as sleep } from "node:timers/promises";
import type { Answers } from "./keep-busy.ts";
import type { Place } from "./place.ts";
import { type Way, ways } from "./ways.ts";

/** The way to run; none to stop. Either is answered with what the service has answered until then. */
export interface Order {
  readonly way?: string;
  readonly place?: Place;
}

interface Running {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  readonly answers: Answers;
}

const maxWaitMs = 5_000;
let running: Running | undefined;

function start(way: Way, place: Place): Running {
  const controller = new AbortController();
  const answers: Answers = new Map();
  return { controller, answers, ended: way.run(place, controller.signal, answers) };
}

async function obey({ way: name, place }: Order): Promise<void> {
  running?.controller.abort();
  await running?.ended;
  const way = ways.find((each) => each.name === name);
  if (way !== undefined && place !== undefined) {
    running = start(way, place);
    const endMs = performance.now() + maxWaitMs;
    while (running.answers.size === 0 && performance.now() < endMs) await sleep(20);
  }
  report();
}

function report(): void {
  process.send?.([...(running?.answers ?? [])]);
}

process.on("message", (order: Order) => void obey(order));
report();
