// The constants by which callers share a server; README.md says what each part does. Times are in milliseconds, sizes in bytes.
//
// How they interact: a call of another org needs some eight turns of the event loop, and in each of them it may wait for what runs there:
// calls with slices for `sliceMs`, short ones for `shortMs`, and by how much the last of them exceeds that, since a call is not
// interrupted. The cool-down makes up for the excess, up to `maxCoolDownMs`. To read bodies takes no slice, so `readPerOrg` and
// `coolDownMsPerMegabyte` bound how long that takes. Bodies that have been read wait for slices; `heldPerOrg` bounds how many. A body of
// `maxShortBytes` is parsed in a small part of `sliceMs`.

/** Shares of the processor: time-slices.ts. */
export const slices = {
  /** How long calls run in one turn of the event loop. Long beside what it costs to wait for a slice. */
  sliceMs: 2,
  /** How long short calls run in one turn of the event loop. More than those take that a busy client has at once, so none of them waits. */
  shortMs: 4,
  /** Short calls of an org that has the process to itself run for so many times as long. */
  unsharedFactor: 5,
  /** For so long after calls of two orgs, they share the process. */
  sharedMs: 200,
  /** Of an org, after a slice that was used up. */
  maxCoolDownMs: 200,
  /** How many calls may start in one turn of the event loop. */
  maxStarts: 64,
  /** Calls of an org. Each keeps its body in memory. */
  maxWaiting: 2_000,
  /** A longer body takes long to parse, so that no call with one is short. */
  maxShortBytes: 16_384,
  /** How many records a step of the access engine looks at. */
  recordsOfStep: 128,
} as const;

/** Database connections: fair-queue.ts. */
export const queues = {
  /** The part of the connections for writes that callers have. The others are for tokens, sign-ins and jobs. */
  writesOfCallers: 0.8,
  /** The part of a queue's capacity that stays free of each single org. */
  freeOfOrg: 0.25,
  /** The writes of an org wait for its lock, so more at once than these would only keep connections from others. */
  writesOfOrg: 3,
  /** One caller's org, and one org that is written, has one of them at most. */
  previews: 2,
  /** Calls of an org. They have been read and parsed, so each keeps more than one that waits for a time slice. */
  maxWaiting: 1_000,
} as const;

/** Bodies of requests: body-slots.ts. */
export const bodies = {
  /** So much of each body is read without a slot. Only batches, of some hundred items, are longer. */
  freeBytes: 65_536,
  /** Without credentials. Those who have none send tokens, which are shorter. */
  maxAnonymousBytes: 16_384,
  /** At once, of an org and of all. A caller has half of what its org has. */
  readPerOrg: 4,
  readAtOnce: 64,
  /** Until they are parsed: bodies that have been read wait for time slices, and those that come slowly are in memory, too. */
  heldPerOrg: 32,
  heldAtOnce: 256,
  /** So that bodies that come slowly keep others waiting for no longer. */
  maxReadMs: 250,
  /** To read a megabyte takes some 3 ms of the processor, which no time slice counts. */
  coolDownMsPerMegabyte: 100,
  maxCoolDownMs: 100,
  /** Of a caller. Each is a connection, or a stream, whose client waits. */
  maxWaiting: 500,
} as const;

/** Requests without a known caller: anonymous-pace.ts. */
export const anonymous = {
  /** How many requests of an address come at once after a pause. */
  burst: 100,
  /** A request that would wait longer is refused. At the default pace, two thousand requests wait for so long. */
  maxWaitMs: 2_000,
  /** Probes of the health, of one address: enough for its proxies and orchestrators, which may share it with any client. */
  probes: { perSecond: 10, burst: 20 },
  /** How many further requests a stream counts as: to open and close it takes ten times as much as a request with one answer. */
  requestsOfStream: 9,
  /** Each answer of reflection counts as one request, and as one more for each part of this size. */
  bytesOfRequest: 16_384,
} as const;

/** After what time a call that was refused because too many wait may be sent again. */
export const retryAfterMs = 1_000;
