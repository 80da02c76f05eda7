/** Values by keys, in the order of their last use. They take a bounded memory, of which no org has more than its part. */
export interface FairMemory<Value> {
  get(key: string): Value | undefined;
  /** Makes a value the one that was used last. */
  touch(key: string): void;
  /**
   * Keeps a value, as the one that was used last, and drops others for it: those of its org or of all that were not used for longest.
   *
   * @param bytes about the memory that it takes.
   * @returns whether it is kept. One that is larger than the part of an org is not.
   */
  keep(key: string, orgId: string, value: Value, bytes: number): boolean;
  /**
   * Reports whether a value of a new key would only take the place of values that were not used for some time. If each of many values
   * took the place of another, none would be there when it is used again.
   */
  hasRoom(orgId: string, bytes: number, unusedMs: number): boolean;
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

  const isUnused = (keys: Iterable<string>, unusedMs: number): boolean => {
    for (const key of keys) return clock() - (entries.get(key)?.usedMs ?? 0) >= unusedMs;
    return true;
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
      if (bytes > maxOfOrg) return false;
      add(key, { orgId, value, bytes, usedMs: clock() });
      return true;
    },

    hasRoom(orgId, bytes, unusedMs) {
      if (bytes > maxOfOrg) return false;
      const org = orgs.get(orgId);
      const isFull = org !== undefined && org.bytes + bytes > maxOfOrg;
      if (isFull && !isUnused(org.keys, unusedMs)) return false;
      return total + bytes <= maxBytes || isUnused(entries.keys(), unusedMs);
    },
  };
}
