// Get and List of what was in an org earlier. The statements are those of now; the tables in them are as they were.
import type { DescMessage } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { unlimited } from "../../access/evaluation/visibility.ts";
import { readGone } from "../../access/snapshots/past-removals.ts";
import type { AskedMoment } from "../../changes/past/asked-moment.ts";
import { matchesPath, projectLevel } from "../../database/match-reference.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, notFound } from "../../errors/service-error.ts";
import { cursorOf, withUniqueKey } from "../../filters/keyset.ts";
import { parseOrderBy } from "../../filters/parse-order-by.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { restrictedBy, toSql } from "../../filters/to-sql.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import {
  type ResourceDefinition,
  type ResourcePlace,
  type ResourceRow,
  type ResourceTable,
  type TypedDefinition,
  levelsOf,
} from "../definition/definition.ts";
import type { ListRequest } from "../read/list-page.ts";
import { listFieldsOf } from "../read/list-fields.ts";
import { type Page, listPage } from "../read/list-page.ts";
import type { Cursor, PageTokens } from "../read/page-token.ts";
import { listingOf, rowsOf, uniqueKeyOf } from "../read/row-reader.ts";
import { selectPage } from "../read/select-page.ts";
import { type OpenPast, type PastDependencies, inPast } from "./open-past.ts";
import { suspendedNow } from "./past-tables.ts";

/** What is read of a resource in one of its places, which is in an org. */
interface PastRead<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage> {
  readonly definition: TypedDefinition<Table, Row, Desc>;
  readonly place: ResourcePlace;
  /** Of the resource, or of the parent of a list. The org is named as it is now. */
  readonly path: readonly Reference[];
  readonly asked: AskedMoment;
}

/**
 * Reads for callers who may read the log of the org, which was decided before.
 *
 * @throws ServiceError FIELD_INVALID, RESOURCE_NOT_FOUND, REVISION_EXPIRED, RATE_LIMITED, DEADLINE_EXCEEDED, SERVICE_UNAVAILABLE, and
 *   PERMISSION_DENIED for what is in a project that is or was suspended.
 */
export interface PastReads {
  readonly get: <Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
    read: PastRead<Table, Row, Desc>,
    context: HandlerContext,
  ) => Promise<Row>;
  /** Returns a page, with the revision that it shows. */
  readonly list: <Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
    read: PastRead<Table, Row, Desc>,
    request: ListRequest,
    context: HandlerContext,
  ) => Promise<Page<Row> & { readonly revision: string }>;
}

export function createPastReads(dependencies: PastDependencies & { readonly pageTokens: PageTokens }): PastReads {
  const { registry, pageTokens } = dependencies;

  return {
    get: ({ definition, place, path, asked }, context) =>
      inPast(dependencies, path, asked, undefined, context, async (past) => {
        const parents = await findParents(registry, past, place, path.slice(0, -1));
        const row = await findRow(past, definition, place, [...parents, ...path.slice(-1)]);
        if (row === undefined) throw notFound(definition.label.one, formatReferences(place.pattern, path));
        return row;
      }),

    async list({ definition, place, path, asked }, request, context) {
      const { showDeleted = false, filter, orderBy } = request;
      const fields = listFieldsOf(definition, place);
      const condition = toSql(readFilter(filter, fields));
      const order = withUniqueKey(parseOrderBy(orderBy, fields), uniqueKeyOf(definition, place));
      const of = asked.by === "revision" ? asked.revision : String(asked.microseconds);
      const written = formatReferences(place.pattern, path);
      const binding = [definition.type, written, String(showDeleted), filter, orderBy, "as of", of];
      let revision = "";
      const read = (position: Cursor | undefined, limit: number) =>
        // What was committed late may be before a time that was asked about, so all pages are of one revision.
        inPast(dependencies, path, asked, position?.[order.length], context, async (past) => {
          revision = past.moment.revision;
          const parent = await findParents(registry, past, place, path);
          // Labels are indexed as they are now.
          const { labelled: _, ...listing } = listingOf(
            definition,
            place,
            rowsOf(definition, place, past.db, past.now),
          );
          const shown = isShown(past, place);
          const selection = {
            parent,
            showDeleted,
            visible: unlimited,
            condition: shown === undefined ? condition : restrictedBy(condition, shown),
            order,
            after: position?.slice(0, order.length),
            limit,
          };
          return [...(await past.run(selectPage(listing, selection)))];
        });
      const page = await listPage(pageTokens, request, binding, read, (row) => [...cursorOf(order, row), revision]);
      return { ...page, revision };
    },
  };
}

/** Finds the parents that a path names. Returns the path with the ids of those before a `-`. */
async function findParents(
  registry: PastDependencies["registry"],
  past: OpenPast,
  { parents }: ResourcePlace,
  path: readonly Reference[],
): Promise<readonly Reference[]> {
  const firstAny = path.findIndex(({ by }) => by === "any");
  const named = firstAny === -1 ? path : path.slice(0, firstAny);
  const org = { by: "id", value: past.org.id } as const;
  if (named.length < 2) return [org, ...path.slice(1)];
  const level = required(parents[named.length - 1]);
  const parent = registry.definitionOf(level.type);
  const [place] = parent.places;
  const row = await findRow(past, parent as TypedDefinition<ResourceTable, ResourceRow & { id: string }>, place, [
    org,
    ...named.slice(1),
  ]);
  if (row === undefined) throw notFound(parent.label.one, formatReferences(place.pattern, named));
  if (level.alias === projectLevel.alias && (await isSuspended(past, row))) await past.requireSeesSuspended();
  return [org, ...named.slice(1, -1), { by: "id", value: row.id }, ...path.slice(named.length)];
}

/** @throws ServiceError REVISION_EXPIRED if it was there, and what the log has of it is not all. */
async function findRow<Table extends ResourceTable, Row extends ResourceRow>(
  past: OpenPast,
  definition: TypedDefinition<Table, Row>,
  place: ResourcePlace,
  path: readonly Reference[],
): Promise<Row | undefined> {
  const conditions = [matchesPath(levelsOf(definition, place), path), isShown(past, place) ?? sql<SqlBool>`true`];
  const found = rowsOf(definition, place, past.db, past.now).where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`);
  const [row] = await past.run(sql<Row>`select * from ${found as unknown as RawBuilder<Row>} as found limit 1`);
  if (row === undefined) await requireNotGone(past, definition, path.at(-1));
  return row;
}

/** Returns the condition that a row is in no project whose contents the caller does not see; undefined if it sees all. */
function isShown({ seesSuspended }: OpenPast, { parents }: ResourcePlace): RawBuilder<SqlBool> | undefined {
  if (seesSuspended || parents.every(({ alias }) => alias !== projectLevel.alias)) return undefined;
  return sql<SqlBool>`(projects.state = 'ACTIVE' and not exists (select from ${suspendedNow} where suspended_now.id = projects.id))`;
}

/** Whether a project was suspended then, or is now. */
async function isSuspended({ run }: OpenPast, { id, state }: { readonly id: string; readonly state?: string }) {
  return state !== "ACTIVE" || (await run(sql`select from ${suspendedNow} where id = ${id}`)).length > 0;
}

async function requireNotGone(
  { db, org, moment, base }: OpenPast,
  { type }: ResourceDefinition,
  reference: Reference | undefined,
): Promise<void> {
  if (!base.isCut || reference === undefined || reference.by === "any") return;
  const { by, value } = reference;
  for await (const rows of readGone(db, org, moment)) {
    const gone = rows.find((each) => each.type === type && each[by] === value);
    if (gone === undefined) continue;
    throw new ServiceError(
      "REVISION_EXPIRED",
      `the ${type} @${gone.id} is purged, and the log of the Org no longer has all of what it was`,
    );
  }
}
