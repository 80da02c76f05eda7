// Reads the resources of an org as they are, page by page: a page and the revision that it shows are read in one snapshot. The pages of a
// type are in the order of its key, and the types in that of their names, so that a stream can go on from a place in another version.
import { type Compilable, type Expression, type SqlBool, sql } from "kysely";
import type { KnownStatement } from "../../database/connection-pool.ts";
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import type { Installation } from "../../identity/installation.ts";
import { type ResourceDefinition, isInOrg } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { keptPlan } from "../../standard-methods/read/page-statements.ts";
import { readInTime } from "../../standard-methods/read/read-in-time.ts";
import { idOf } from "../../standard-methods/rows/row-key.ts";
import type { LoggedResource } from "../changes/logged-place.ts";
import type { StatePlace } from "./stream-position.ts";

/** A resource, as an entry that has created it would show it. */
export interface StateRow {
  readonly resource: LoggedResource & { readonly after: object };
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
  /** Whether an org can have such a place. */
  readonly has: (orgId: string, place: StatePlace) => boolean;
  readonly read: (orgId: string, place: StatePlace) => Promise<StatePage>;
}

interface Parts {
  readonly database: Database;
  readonly registry: Pick<ResourceRegistry, "definitions">;
  readonly installation: Pick<Installation, "systemOrgId">;
}

/** How many resources a page has. Each stream keeps one for as long as its reader likes. */
const pageSize = 100;
/** What a page has of resources that are long, in characters of their columns in JSON, and the first one in any case. */
const maxLength = 131_072;

const nil = "00000000-0000-0000-0000-000000000000";

export function createStatePages({ database, registry, installation }: Parts): StatePages {
  const all = registry.definitions.toSorted((one, other) => (one.type < other.type ? -1 : 1));
  const ofOrgs = all.filter((definition) => isInOrg(definition) || definition.type === "Org");
  // What is in no org is in the log of this one.
  const definitionsOf = (orgId: string) => (orgId === installation.systemOrgId ? all : ofOrgs);

  return {
    start: (orgId) => ({ type: required(definitionsOf(orgId)[0]).type, key: [] }),

    has(orgId, { type, key }) {
      const definition = definitionsOf(orgId).find((each) => each.type === type);
      return definition !== undefined && (key.length === 0 || key.length === keyOf(definition).length);
    },

    async read(orgId, { type, key }) {
      const definitions = definitionsOf(orgId);
      const index = definitions.findIndex((definition) => definition.type === type);
      const definition = required(definitions[index]);
      const after = key.length === 0 ? keyOf(definition).map(() => nil) : key;
      const statements = [headOf(orgId), pageOf(database, definition, orgId, after)];
      const [heads = [], found = []] = await readInTime(database, statements, keptPlan, () => undefined);
      const rows = found as readonly Found[];
      const shown = withinLength(definition, rows);
      const last = shown.at(-1);
      const following = definitions[index + 1];
      const isWhole = shown.length === rows.length && rows.length < pageSize;
      return {
        revision: (heads as readonly { revision: string }[])[0]?.revision,
        rows: shown.flatMap((row) => toStateRow(definition, orgId, row)),
        next:
          last && !isWhole ? { type, key: keyIn(definition, last) } : following && { type: following.type, key: [] },
      };
    },
  };
}

/** A row that `select` returned, with its key besides. Its columns are null if it is there, but not shown: its time is over. */
type Found = Readonly<Record<string, unknown>>;

/** Returns the columns of the key of a resource without that of its org. */
function keyOf({ storage: { key } }: ResourceDefinition): readonly string[] {
  return key.filter((column) => column !== "org_id");
}

const keyColumn = (index: number): string => `state_key_${index}`;

function keyIn(definition: ResourceDefinition, row: Found): readonly string[] {
  return keyOf(definition).map((_, index) => String(row[keyColumn(index)]));
}

const headOf = (orgId: string): KnownStatement => ({
  text: "select revision from orgs where id = $1::uuid",
  values: [orgId],
  isKept: true,
});

/** Returns the statement that reads a page: the keys in the order of their index, then each row by its key. Its text is always the same. */
function pageOf({ reads }: Database, definition: ResourceDefinition, orgId: string, after: readonly string[]) {
  const { table, select } = definition.storage;
  const columns = keyOf(definition);
  const refs = columns.map((column) => sql.ref(`${table}.${column}`));
  const orgColumn = isInOrg(definition) ? "org_id" : definition.type === "Org" ? "id" : undefined;
  const isOfOrg = orgColumn === undefined ? [] : [sql<SqlBool>`${sql.ref(`${table}.${orgColumn}`)} = ${orgId}::uuid`];
  const isAfter = sql<SqlBool>`(${sql.join(refs)}) > (${sql.join(after.map((id) => sql`${id}::uuid`))})`;
  const keys = sql`
    select ${sql.join(refs.map((ref, index) => sql`${ref} as ${sql.id(keyColumn(index))}`))} from ${sql.table(table)}
    where ${sql.join([...isOfOrg, isAfter], sql` and `)} order by ${sql.join(refs)} limit ${sql.lit(pageSize)}`;
  const found = refs.map((_, index) => sql.ref(`keys.${keyColumn(index)}`));
  const isIt = [...isOfOrg, ...refs.map((ref, index) => sql<SqlBool>`${ref} = ${found[index]}`)];
  const row: Compilable<unknown> = select(reads).where(sql<SqlBool>`(${sql.join(isIt, sql` and `)})`);
  const { sql: text, parameters: values } = sql`
    select keys.*, found.* from (${keys}) as keys
    left join lateral (${row as unknown as Expression<unknown>} limit 1) as found on true
    order by ${sql.join(found)}`.compile(reads);
  return { text, values, isKept: true };
}

/** Returns as many rows as a page may have. */
function withinLength({ storage }: ResourceDefinition, rows: readonly Found[]): readonly Found[] {
  let length = 0;
  const end = rows.findIndex((row) => {
    const isFull = length >= maxLength;
    length += JSON.stringify(storage.columns.map((column) => row[column])).length;
    return isFull;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

function toStateRow(definition: ResourceDefinition, orgId: string, row: Found): StateRow[] {
  const { type, storage, pathOf } = definition;
  if (row[storage.id] === null) return [];
  const resource = {
    org_id: orgId,
    resource_type: type,
    resource_id: idOf(definition, row),
    resource_path: pathOf(row as never),
    before: null,
    after: row,
  };
  return [{ resource, place: { type, key: keyIn(definition, row) } }];
}
