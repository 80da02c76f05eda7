// Reads the resources of an org as they are, page by page: a page and the revision that it shows are read in one snapshot. The pages of a
// type are in the order of its key, and the types in that of their names, so that a stream can go on from a place in another version.
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import type { Installation } from "../../identity/installation.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { orgRevisionIn, orgRevisionStatement } from "../../standard-methods/read/org-revision.ts";
import { keptPlan } from "../../standard-methods/read/page-statements.ts";
import { readInTime } from "../../standard-methods/read/read-in-time.ts";
import {
  type Found,
  type StateResource,
  type StateSource,
  keyColumn,
  pageSize,
  quotaSource,
  sourceOf,
} from "./state-sources.ts";
import type { StatePlace } from "./stream-position.ts";

interface StateRow {
  readonly resource: StateResource;
  /** The place after it. */
  readonly place: StatePlace;
}

interface StatePage {
  /** What the page shows is as of this revision; undefined if there is no such org. */
  readonly revision: string | undefined;
  readonly rows: readonly StateRow[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: StatePlace | undefined;
}

export interface StatePages {
  /** Returns the place before the first resource of an org. */
  readonly start: (orgId: string) => StatePlace;
  /** Whether the state of an org has a type. */
  readonly hasType: (orgId: string, type: string) => boolean;
  /** Whether an org can have such a place. */
  readonly has: (orgId: string, place: StatePlace) => boolean;
  readonly read: (orgId: string, place: StatePlace) => Promise<StatePage>;
}

interface Parts {
  readonly database: Database;
  readonly registry: Pick<ResourceRegistry, "definitions">;
  readonly installation: Pick<Installation, "systemOrgId">;
}

/** What a page has of resources that are long, in characters of their columns in JSON, and the first one in any case. */
const maxLength = 131_072;

const nil = "00000000-0000-0000-0000-000000000000";

export function createStatePages({ database, registry, installation }: Parts): StatePages {
  const all = [quotaSource, ...registry.definitions.map(sourceOf)].toSorted((one, other) =>
    one.type < other.type ? -1 : 1,
  );
  const ofOrgs = all.filter(({ isOfNoOrg }) => !isOfNoOrg);
  // Customers have logs of their own, so their changes do not follow.
  const ofSystem = all.filter(({ type }) => type !== "Customer");
  const sourcesOf = (orgId: string): readonly StateSource[] => (orgId === installation.systemOrgId ? ofSystem : ofOrgs);

  return {
    start: (orgId) => ({ type: required(sourcesOf(orgId)[0]).type, key: [] }),

    hasType: (orgId, type) => sourcesOf(orgId).some((source) => source.type === type),

    has(orgId, { type, key }) {
      const source = sourcesOf(orgId).find((each) => each.type === type);
      return source !== undefined && (key.length === 0 || key.length === source.keys);
    },

    async read(orgId, { type, key }) {
      const sources = sourcesOf(orgId);
      const index = sources.findIndex((source) => source.type === type);
      const source = required(sources[index]);
      const after = key.length === 0 ? Array.from({ length: source.keys }, () => nil) : key;
      const statements = [orgRevisionStatement(orgId), source.page(database, orgId, after)];
      const [heads = [], found = []] = await readInTime(database, statements, keptPlan, () => undefined);
      const rows = found as readonly Found[];
      const shown = withinLength(rows);
      const last = shown.at(-1);
      const following = sources[index + 1];
      const isWhole = shown.length === rows.length && rows.length < pageSize;
      return {
        revision: orgRevisionIn(heads),
        rows: shown.flatMap((row) => {
          const resource = source.toResource(orgId, row);
          return resource === undefined ? [] : [{ resource, place: placeAfter(source, row) }];
        }),
        next: last && !isWhole ? placeAfter(source, last) : following && { type: following.type, key: [] },
      };
    },
  };
}

function placeAfter({ type, keys }: StateSource, row: Found): StatePlace {
  return { type, key: Array.from({ length: keys }, (_, index) => String(row[keyColumn(index)])) };
}

/** Returns as many rows as a page may have. */
function withinLength(rows: readonly Found[]): readonly Found[] {
  let length = 0;
  const end = rows.findIndex((row) => {
    const isFull = length >= maxLength;
    length += JSON.stringify(row).length;
    return isFull;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
