// Reads the rows of a resource by path, by key and page by page, as its definition describes.
import { type CompiledQuery, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Visibility } from "../../access/evaluation/visibility.ts";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import { notFound } from "../../errors/service-error.ts";
import type { Column } from "../../filters/filter-fields.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import {
  type ResourceDefinition,
  type TypedDefinition,
  type ResourcePlace,
  type ResourceRow,
  type ResourceTable,
  isInOrg,
  keepsDeleted,
  levelsOf,
} from "../definition/definition.ts";
import { type RowsQuery, createPathFinder, createPathLookup } from "../../database/path-lookup.ts";
import { type PageStatement, createPageStatements } from "./page-statements.ts";
import type { Listing, Selection } from "./select-page.ts";
import { type VisibleLookup, createVisibleLookup } from "./visible-lookup.ts";
import type { ResourceRegistry } from "../definition/registry.ts";
import { required } from "../../errors/required.ts";
import { isOneOf, keyOf, unnestKeys } from "../rows/row-key.ts";

/** Replaces every reference before a `-` in a parent's path by an id: `orgs/acme/groups/-` becomes `orgs/@<id>/groups/-`. */
type ResolveParent = (parent: readonly Reference[], visible: Visibility) => Promise<readonly Reference[]>;

/** Reads the rows of a resource in one of its places. */
export interface RowReader<Row> {
  /** Looks up a row outside of transactions, batched. `lookup.all` looks up several rows inside one. */
  readonly lookup: VisibleLookup<Row>;
  /** Looks up a row inside a transaction. */
  find(db: Kysely<Schema>, path: readonly Reference[]): Promise<Row | undefined>;
  /** Returns the statement that reads the rows of a page. */
  readonly pageStatement: (selection: Selection) => PageStatement;
  /** @throws ServiceError RESOURCE_NOT_FOUND when a reference before a `-` names nothing. */
  readonly resolveParent: ResolveParent;
}

/** Looks up the ids on the path to a row, from the top. */
type IdLookup = VisibleLookup<Readonly<Record<string, string>>>;

/** Creates and keeps the readers of all resources. Resources with the same parent share the lookup of its ids. */
export interface RowReaders {
  readerOf<Table extends ResourceTable, Row extends ResourceRow>(
    definition: TypedDefinition<Table, Row>,
    place: ResourcePlace,
  ): RowReader<Row>;
}

export function createRowReaders(database: Database, registry: ResourceRegistry): RowReaders {
  const idLookups = new Map<string, IdLookup>();

  const idLookupOf = (definition: ResourceDefinition): IdLookup => {
    const [place] = definition.places;
    let lookup = idLookups.get(definition.type);
    if (lookup === undefined) {
      const levels = levelsOf(definition, place);
      const found = createPathLookup<Readonly<Record<string, string>>>(database, {
        name: `${definition.storage.table}_ids`,
        levels,
        rows: definition.storage.select(database.reads),
        columns: idColumns(definition),
      });
      // The resource at the end of the path contains what is read, so its own level counts as a container.
      lookup = createVisibleLookup(found, levels);
      idLookups.set(definition.type, lookup);
    }
    return lookup;
  };

  const resolverFor = ({ parents }: ResourcePlace): ResolveParent => {
    const levels = parents.map(({ type }) => {
      const parent = registry.definitionOf(type);
      return { parent, lookup: idLookupOf(parent), columns: idColumns(parent) };
    });
    return async (path, visible) => {
      const firstAny = path.findIndex((reference) => reference.by === "any");
      const concrete = firstAny === -1 ? path : path.slice(0, firstAny);
      if (concrete.length === 0) return path;
      const { parent, lookup, columns } = required(levels[concrete.length - 1]);
      const ids = await lookup(concrete, visible);
      if (ids === undefined) {
        throw notFound(parent.label.one, formatReferences(parent.places[0].pattern, concrete));
      }
      const found = columns.map((column): Reference => ({ by: "id", value: ids[column] ?? "" }));
      return [...found, ...path.slice(concrete.length)];
    };
  };

  const readers = new Map<string, RowReader<never>>();

  return {
    readerOf<Table extends ResourceTable, Row extends ResourceRow>(
      definition: TypedDefinition<Table, Row>,
      place: ResourcePlace,
    ): RowReader<Row> {
      const name = `${definition.storage.table}_${definition.places.indexOf(place)}`;
      const known = readers.get(name) as RowReader<Row> | undefined;
      if (known !== undefined) return known;
      const levels = levelsOf(definition, place);
      const reader: RowReader<Row> = {
        lookup: createVisibleLookup(
          createPathLookup<Row>(database, { name, levels, rows: rowsOf(definition, place, database.reads) }),
          place.parents,
        ),
        find: (db, path) => findInPlace(db, definition, place, path),
        pageStatement: pageStatementsOf(database.reads, definition, place),
        resolveParent: resolverFor(place),
      };
      readers.set(name, reader as RowReader<never>);
      return reader;
    },
  };
}

/** Returns the statements that read the pages of a resource in one of its places. */
export function pageStatementsOf<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  place: ResourcePlace,
): (selection: Selection) => PageStatement {
  const listing = listingOf(definition, place, rowsOf(definition, place, db));
  return createPageStatements(db, listing, uniqueKeyOf(definition, place));
}

/** Returns the columns with the ids of a resource's parents, from the top, and its own. */
function idColumns({ places: [{ parents }], storage }: ResourceDefinition): string[] {
  return [...parents.map(({ column }) => column), storage.id];
}

/** Returns the rows of a resource that are in a place. @param now at which they are visible. */
export function rowsOf<Table extends ResourceTable, Row extends ResourceRow>(
  { storage }: TypedDefinition<Table, Row>,
  { holds }: ResourcePlace,
  db: Kysely<Schema>,
  now?: RawBuilder<Date>,
): RowsQuery<Row> {
  const rows = storage.select(db, now);
  return holds === undefined ? rows : (rows.where(holds) as unknown as RowsQuery<Row>);
}

/** Looks up a row inside a transaction, in the first place of its resource. */
export function findRow<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  path: readonly Reference[],
): Promise<Row | undefined> {
  return findInPlace(db, definition, definition.places[0], path);
}

/** Looks up a row inside a transaction, in the given place of its resource. */
export function findInPlace<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  place: ResourcePlace,
  path: readonly Reference[],
): Promise<Row | undefined> {
  const find =
    finders.get(place) ?? createPathFinder(levelsOf(definition, place), (of) => rowsOf(definition, place, of));
  finders.set(place, find);
  return find(db, path) as Promise<Row | undefined>;
}

const finders = new WeakMap<ResourcePlace, ReturnType<typeof createPathFinder<ResourceRow>>>();

/** Reads rows by their keys, in the order given; undefined for a row that does not exist or is not visible. */
export async function readByKeys<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  rows: readonly object[],
): Promise<(Row | undefined)[]> {
  const { rows: found } = await db.executeQuery(selectByKeys(db, definition, rows));
  return inOrderOf(definition, rows, found);
}

/** Reads rows like `readByKeys`, outside of transactions, in a statement that is planned once. */
export async function lookUpByKeys<Table extends ResourceTable, Row extends ResourceRow>(
  database: Database,
  definition: TypedDefinition<Table, Row>,
  rows: readonly object[],
): Promise<(Row | undefined)[]> {
  if (rows.length === 0) return [];
  const { sql: text, parameters } = selectByKeys(database.reads, definition, rows);
  const name = `${definition.storage.table}_by_${rows.length === 1 ? "key" : "keys"}`;
  return inOrderOf(definition, rows, await database.readPrepared<Row>(name, text, parameters));
}

/**
 * Selects rows by their keys. Several are looked up one by one, in a lateral join: otherwise the planner joins all tables before it
 * looks for the keys.
 */
function selectByKeys<Table extends ResourceTable, Row extends ResourceRow>(
  db: Kysely<Schema>,
  definition: TypedDefinition<Table, Row>,
  rows: readonly object[],
): CompiledQuery<Row> {
  const { table, key } = definition.storage;
  const selected = definition.storage.select(db);
  if (rows.length === 1) return selected.where(isOneOf(definition, rows)).compile();
  const equal = key.map((column) => sql`${sql.ref(`${table}.${column}`)} = ${sql.ref(`given.${column}`)}`);
  const found = selected.where(sql<SqlBool>`(${sql.join(equal, sql` and `)})`);
  const given = key.map((column) => sql.id(column));
  return sql<Row>`
    select found.* from ${unnestKeys(definition, rows)} as given (${sql.join(given)})
    cross join lateral (${found} limit 1) as found`.compile(db);
}

function inOrderOf<Row extends ResourceRow>(
  definition: ResourceDefinition,
  rows: readonly object[],
  found: readonly Row[],
): (Row | undefined)[] {
  const byKey = new Map(found.map((row) => [keyOf(definition, row), row]));
  return rows.map((row) => byKey.get(keyOf(definition, row)));
}

/** Returns how the given rows of a resource are listed. */
export function listingOf<Row>(
  definition: ResourceDefinition,
  { parents }: ResourcePlace,
  rows: RowsQuery<Row>,
): Listing<Row> {
  const { type, storage } = definition;
  const { table, labels, id } = storage;
  // The label index holds resources in orgs by their org, and customers and orgs without one.
  const isIndexed = labels === "indexed" && isInOrg(definition) === parents.some((parent) => parent.type === "Org");
  return {
    rows,
    table,
    parents,
    isPlannedOnce: storage.pagesArePlannedOnce === true,
    ...(isIndexed && { labelled: { type, id: `${table}.${id}` } }),
    ...(keepsDeleted(definition) && { live: sql<SqlBool>`${sql.ref(`${table}.delete_time`)} is null` }),
  };
}

/** Returns the columns that order a list by default. Together they are unique, immutable and indexed below the parent. */
export function uniqueKeyOf({ storage: { table, id } }: ResourceDefinition, { parents }: ResourcePlace): Column[] {
  return [...parents.map(({ column }): Column => `${table}.${column}`), `${table}.${id}`];
}
