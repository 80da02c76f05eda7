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
}

interface Entry<Value> {
  readonly orgId: string;
  readonly value: Value;
  readonly bytes: number;
}

/** No org takes more than its part. */
const partOfOrg = 4;

export function createFairMemory<Value>(maxBytes: number): FairMemory<Value> {
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

  return {
    get: (key) => entries.get(key)?.value,

    touch(key) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entries.delete(key);
      entries.set(key, entry);
      const { keys } = orgs.get(entry.orgId) ?? { keys: new Set() };
      keys.delete(key);
      keys.add(key);
    },

    keep(key, orgId, value, bytes) {
      drop(key);
      if (bytes <= maxOfOrg) add(key, { orgId, value, bytes });
    },
  };
}
