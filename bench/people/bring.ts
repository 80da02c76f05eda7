// A process that brings people into an org, in one way, as its parent orders. It sends how many requests and how long that took.
import type { Place } from "./place.ts";
import { bringByInvitation } from "./by-invitation.ts";
import { bringByScim } from "./by-scim.ts";

const ways = { "by SCIM": bringByScim, "by invitation": bringByInvitation } as const;

export interface Order {
  readonly way: keyof typeof ways;
  readonly place: Place;
}

export interface Brought {
  readonly requests: number;
  readonly seconds: number;
}

process.once("message", ({ way, place }: Order) => {
  const startedAt = performance.now();
  void ways[way](place).then((requests) => {
    process.send?.({ requests, seconds: (performance.now() - startedAt) / 1_000 } satisfies Brought);
    process.disconnect();
  });
});
process.send?.("ready");
