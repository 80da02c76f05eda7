/** Values by keys, in the order of their last use. They take a bounded memory, of which no org has more than its part. */
export interface FairMemory<Value> {
  get(key: string): Value | undefined;
  /** Makes a value the one that was used last. */
  touch(key: string): void;
  /**
   * Keeps a value, as the one that was used last, and drops others for it: those of its org or of all that were not used for longest.
   * One that is larger than the part of an org is not kept.
   *
   * @param bytes about the memory that it takes.
   */
  keep(key: string, orgId: string, value: Value, bytes: number): void;
  /**
   * Reports whether a value would only take the place of the one of its key, and of values that were not used for some time. If each of
   * many values took the place of another, none would be there when it is used again.
   */
  hasRoom(key: string, orgId: string, bytes: number, unusedMs: number): boolean;
}

interface Entry<Value> {
  readonly orgId: string;
  readonly value: Value;
  readonly bytes: number;
  usedMs: number;
}

/** No org takes more than its part. */
const partOfOrg = 4;

export function createFairMemory<Value>(maxBytes: number, clock = () => performance.now()): FairMemory<Value> {
  /** In the order of last use, least recent first. */
  const entries = new Map<string, Entry<Value>>();
  /** The same keys by org, in the same order, and their bytes. */
  const orgs = new Map<string, { readonly keys: Set<string>; bytes: number }>();
  const maxOfOrg = maxBytes / partOfOrg;
  let total = 0;

  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    const { orgId, bytes } = entry;
    entries.delete(key);
    total -= bytes;
    const org = orgs.get(orgId);
    if (org === undefined) return;
    org.keys.delete(key);
    org.bytes -= bytes;
    if (org.keys.size === 0) orgs.delete(orgId);
  };

  const add = (key: string, entry: Entry<Value>): void => {
    const org = orgs.get(entry.orgId) ?? { keys: new Set(), bytes: 0 };
    orgs.set(entry.orgId, org);
    entries.set(key, entry);
    org.keys.add(key);
    org.bytes += entry.bytes;
    total += entry.bytes;
    for (const each of org.keys) {
      if (org.bytes <= maxOfOrg) break;
      drop(each);
    }
    for (const each of entries.keys()) {
      if (total <= maxBytes) break;
      drop(each);
    }
  };

  /** Whether so many bytes are those of values that were not used for some time. */
  const canFree = (keys: Iterable<string>, bytes: number, besides: string, unusedMs: number): boolean => {
    let left = bytes;
    for (const key of keys) {
      if (left <= 0) return true;
      const entry = entries.get(key);
      if (entry === undefined || key === besides) continue;
      if (clock() - entry.usedMs < unusedMs) return false;
      left -= entry.bytes;
    }
    return left <= 0;
  };

  return {
    get: (key) => entries.get(key)?.value,

    touch(key) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.usedMs = clock();
      entries.delete(key);
      entries.set(key, entry);
      const { keys } = orgs.get(entry.orgId) ?? { keys: new Set() };
      keys.delete(key);
      keys.add(key);
    },

    keep(key, orgId, value, bytes) {
      drop(key);
      if (bytes <= maxOfOrg) add(key, { orgId, value, bytes, usedMs: clock() });
    },

    hasRoom(key, orgId, bytes, unusedMs) {
      if (bytes > maxOfOrg) return false;
      const more = bytes - (entries.get(key)?.bytes ?? 0);
      const org = orgs.get(orgId) ?? { keys: [], bytes: 0 };
      return (
        canFree(org.keys, org.bytes + more - maxOfOrg, key, unusedMs) &&
        canFree(entries.keys(), total + more - maxBytes, key, unusedMs)
      );
    },
  };
}
