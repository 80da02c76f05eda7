import { ServiceError } from "../../errors/service-error.ts";
import { retryAfterMs } from "../../scheduling/settings.ts";

/** What takes memory, in bytes. */
interface Sized {
  readonly bytes: number;
}

/**
 * Snapshots besides those for calls: those of the orgs that are watched, and of those for which a plan is made. They are not evicted, so
 * their memory has a bound.
 */
export interface OwnSnapshots<Snapshot> {
  /** Reads a snapshot; undefined if there is no such org. @throws ServiceError RATE_LIMITED when it does not fit beside others. */
  read(this: void, orgId: string): Promise<Snapshot | undefined>;
  release(this: void, snapshot: Snapshot): void;
  count(): number;
  bytes(): number;
}

/**
 * @param maxBytes the memory of all together. One alone may have more.
 * @param onRead called when another one takes memory.
 */
export function createOwnSnapshots<Snapshot extends Sized>(
  maxBytes: number,
  readOrg: (orgId: string) => Promise<Snapshot | undefined>,
  onRead: () => void,
): OwnSnapshots<Snapshot> {
  const all = new Set<Snapshot>();
  const bytes = (): number => {
    let sum = 0;
    for (const snapshot of all) sum += snapshot.bytes;
    return sum;
  };
  return {
    async read(orgId) {
      if (all.size > 0 && bytes() >= maxBytes) throw noMemory(maxBytes);
      const snapshot = await readOrg(orgId);
      if (snapshot === undefined) return undefined;
      if (all.size > 0 && bytes() + snapshot.bytes > maxBytes) throw noMemory(maxBytes);
      all.add(snapshot);
      onRead();
      return snapshot;
    },
    release: (snapshot) => void all.delete(snapshot),
    count: () => all.size,
    bytes,
  };
}

function noMemory(maxBytes: number): ServiceError {
  const megabytes = Math.floor(maxBytes / 1_000_000);
  const description = `the orgs that are watched on a server, or compared with files, take ${megabytes} MB of its memory for access together`;
  return new ServiceError(
    "RATE_LIMITED",
    `no memory for another org: ${description}; use another server, or try again in ${retryAfterMs / 1_000} s`,
    {
      metadata: { limit: "watched-memory" },
      quotas: [{ subject: "server", description }],
      retryAfterMs,
    },
  );
}
