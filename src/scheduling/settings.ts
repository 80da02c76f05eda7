// The constants by which callers share a server; README.md says what each part does. Times are in milliseconds, sizes in bytes.
//
// How they interact: a call needs some eight turns of the event loop, and in each of them it may wait for calls of other orgs: `sliceMs`
// for those with slices, `shortMs` for short ones, and the excess of the last one, since a call is not interrupted. The cool-down makes
// up for the excess, up to `maxCoolDownMs`. Reading a body takes no slice; `readPerOrg` and `coolDownMsPerMegabyte` bound the time that
// it takes. Bodies that have been read wait for slices; `heldPerOrg` bounds their number. A body of `maxShortBytes` is parsed in a small
// part of `sliceMs`.

/** Shares of the processor: time-slices.ts. */
export const slices = {
  /** How long calls run in one turn of the event loop. Waiting for a slice costs little beside it. */
  sliceMs: 2,
  /** How long short calls run in one turn of the event loop: more than all concurrent ones of a busy client take, so none of them waits. */
  shortMs: 4,
  /** How many times as long short calls run in a turn while one org has the process to itself. */
  unsharedFactor: 5,
  /** For how long after a call of another org the process counts as shared. */
  sharedMs: 200,
  /** The longest cool-down of an org after a slice that was used up. */
  maxCoolDownMs: 200,
  /** How many calls may start in one turn of the event loop. */
  maxStarts: 64,
  /** How many calls of an org may wait. Each keeps its body in memory. */
  maxWaiting: 2_000,
  /** A call with a longer body is never short, because the body takes long to parse. */
  maxShortBytes: 16_384,
  /** How many records a step of the access engine looks at. */
  recordsOfStep: 128,
} as const;

/** Work for no call: turns.ts. */
export const turnsOfWork = {
  /** How long such work runs in one turn of the event loop. */
  maxMs: 4,
} as const;

/** Database connections: fair-queue.ts. */
export const queues = {
  /** The part of the connections for writes that callers have. The others are for tokens, sign-ins and jobs. */
  writesOfCallers: 0.8,
  /** The part of a queue's capacity that stays free of each single org. */
  freeOfOrg: 0.25,
  /** How many writes of an org run at once. They wait for its lock, so more would only keep connections from others. */
  writesOfOrg: 3,
  /** How many previews run at once: at most one of a caller's org, and one on an org. */
  previews: 2,
  /** How many files of orgs are compared at once. Each is in memory with its org: some 64 MB for the largest. */
  files: 4,
  /** How many of these calls of an org may wait, with their files. */
  filesWaiting: 32,
  /** How many calls of an org may wait. They have been parsed, so each keeps more memory than one that waits for a time slice. */
  maxWaiting: 1_000,
} as const;

/** Bodies of requests: body-slots.ts. */
export const bodies = {
  /** How much of each body is read without a slot. Only batches of some hundred items are longer. */
  freeBytes: 65_536,
  /** The longest body without credentials. Such calls send tokens, which are shorter. */
  maxAnonymousBytes: 16_384,
  /** How many bodies are read at once, of an org and of all orgs. A caller may have half of those of its org. */
  readPerOrg: 4,
  readAtOnce: 64,
  /** How many bodies have slots, from being read to being parsed: those that wait for a time slice or arrive slowly count, too. */
  heldPerOrg: 32,
  heldAtOnce: 256,
  /** After this time, a body that arrives slowly no longer counts as being read, so that others need not wait for it. */
  maxReadMs: 250,
  /** The cool-down of a slot. Reading a megabyte takes some 3 ms of the processor, which no time slice counts. */
  coolDownMsPerMegabyte: 100,
  maxCoolDownMs: 100,
  /** How many bodies of a caller may wait. Each is a connection, or a stream, whose client waits. */
  maxWaiting: 500,
} as const;

/** Requests without a known caller: anonymous-pace.ts. */
export const anonymous = {
  /** How many requests of an address come at once after a pause. */
  burst: 100,
  /** A request that would wait longer is refused. At the default pace, two thousand requests wait for so long. */
  maxWaitMs: 2_000,
  /** Health probes of one address: enough for proxies and orchestrators, which may share the address with any client. */
  probes: { perSecond: 10, burst: 20 },
  /** How many further requests a stream counts as. To open and close it costs ten times as much as a request with one answer. */
  requestsOfStream: 9,
  /** Each answer of reflection counts as one request, and as one more for each so many bytes. */
  bytesOfRequest: 16_384,
} as const;

/** After what time a call that was refused because too many wait may be sent again. */
export const retryAfterMs = 1_000;
