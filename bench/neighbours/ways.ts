// What an org, or a client without a credential, does to the service at the limits. Each way runs until its signal is aborted.
import { type HttpRequest } from "../load-http.ts";
import { type Answers, keepBusy } from "./keep-busy.ts";
import type { Place } from "./place.ts";
import {
  askReflection,
  burstWatches,
  holdConnections,
  holdUnreadAnswers,
  holdWatches,
  reopenWatches,
  sendSlowBodies,
} from "./ways-of-connections.ts";
import * as requests from "./requests.ts";

export interface Way {
  readonly name: string;
  readonly what: string;
  /** Whether it calls the server that limits rates; then the quiet org calls that one, too. */
  readonly isLimited?: boolean;
  readonly run: (place: Place, signal: AbortSignal, answers: Answers) => Promise<void>;
}

/** From here, so that the limits for an address are those of the load alone. */
const localAddress = "127.0.0.2";

/** Calls at once of loops that take the processor. Further ones wait behind them. */
const atOnce = 32;

/** Returns a way that keeps calls in flight. */
function calls(
  name: string,
  what: string,
  connections: number,
  requestOf: (place: Place, index: number) => HttpRequest,
  isLimited = false,
): Way {
  let index = 0;
  return {
    name,
    what: `${what}, ${connections} at once`,
    isLimited,
    run: (place, signal, answers) => {
      const url = isLimited ? place.limitedUrl : place.url;
      return keepBusy(url, () => requestOf(place, index++), { connections, localAddress, signal, answers });
    },
  };
}

export const ways: readonly Way[] = [
  calls("conditions", "calls of a member with 100 conditions", atOnce, requests.getWithConditions),
  calls("conditions-batch", "batches of 100 checks of that member", atOnce, requests.checkConditions),
  calls("who-may", "who-may, pages of 1,000", atOnce, requests.listSubjects),
  calls("what-may", "what-may, pages of 1,000", atOnce, requests.listResources),
  calls("explain", "explanations with 1,000 candidates", atOnce, requests.explain),
  calls("denied", "403s that are explained", atOnce, requests.deleteOrg),
  calls("checks", "batches of 1,000 checks", atOnce, requests.checkMany),
  calls("evaluations", "batches of 1,000 AuthZEN evaluations", atOnce, requests.evaluateMany),
  calls("filter-text", "filters of 4,096 characters", atOnce, requests.filterText),
  calls("invalid", "batches of 1,000 invalid items", atOnce, requests.createInvalid),
  calls("bodies", "bodies of 1 MB", atOnce, requests.largeBody),
  calls("oversized", "lists of 250,000 permissions", atOnce, requests.testTooMany),
  calls("labels", "members with 76,000 labels", atOnce, requests.labelTooMuch),
  calls("anonymous", "compressed bodies of 1 MB without credentials", atOnce, requests.refreshNested),
  calls("previews", "previews of a grant to all members", atOnce, requests.preview),
  calls("batch-creates", "batch creates of 1,000 members", 30, requests.createMany),
  calls("filters", "filters that search all members", 40, requests.searchMembers),
  calls("writes", "creates of members", 64, requests.createOne),
  calls("updates", "updates of 8 groups", 64, requests.updateGroup),
  calls("pages", "pages of 1,000 members", 32, requests.listMembers),
  calls("pages-ordered", "ordered pages of 1,000 members", 32, requests.listOrdered),
  calls("reads", "Gets", 64, requests.getMember),
  calls("rates", "Gets beyond the rate", 64, requests.getMember, true),
  calls("rates-writes", "creates beyond the rate", 64, requests.createOne, true),
  calls("unknown-keys", "calls with keys that do not exist", 64, requests.getWithUnknownKey),
  calls("deadlines", "calls whose deadline has passed", 64, requests.getBeyondDeadline),
  calls("not-found", "paths that do not exist", 64, requests.getUnknownPath),
  calls("probes", "probes of the health", 64, requests.probeHealth),
  calls("unknown-secrets", "token requests with secrets that do not exist", 64, requests.issueWithUnknownKey),
  { name: "watches", what: "health Watches at the limit of an address", run: holdWatches },
  { name: "watches-reopened", what: "health Watches that are opened and closed", run: reopenWatches },
  { name: "watches-at-once", what: "40 connections that open 250 health Watches each, at once", run: burstWatches },
  {
    name: "reflection",
    what: "questions to reflection, on as many streams as an address may have",
    run: askReflection,
  },
  { name: "connections", what: "connections at the limit of an address", run: holdConnections },
  { name: "unread", what: "answers over HTTP/2 that are not read", run: holdUnreadAnswers },
  { name: "slow-bodies", what: "bodies that come byte by byte", run: sendSlowBodies },
];
