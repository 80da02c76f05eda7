import type { OrgKey } from "../../database/org-key.ts";

/** The orgs whose past was read from far away. */
export interface LongReads {
  /** @param distance how many revisions there are between the moment and what the rows are taken from. */
  readonly note: (org: OrgKey, distance: bigint) => void;
  readonly forget: (orgId: string) => void;
  readonly list: () => readonly OrgKey[];
}

/** So many revisions are far. */
const farRevisions = 20_000n;

const maxOrgs = 100;

/** Notes up to 100 orgs: what is beyond that is noted when somebody asks again. */
export function createLongReads(): LongReads {
  const orgs = new Map<string, OrgKey>();
  return {
    note({ id, customer_id }, distance) {
      if (distance > farRevisions && orgs.size < maxOrgs) orgs.set(id, { id, customer_id });
    },
    forget: (orgId) => void orgs.delete(orgId),
    list: () => [...orgs.values()],
  };
}
